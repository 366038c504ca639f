/** Identifies the client of a request: by the peer's network, or by what another process of this system passes on about its own client. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { toNetwork, toPublishedNetwork } from './connection-count.ts';
import { NO_PROXIES, type TrustedProxies } from './trusted-proxies.ts';

/**
 * The header in which a process of this system passes its client on: `<id>.<address>.<signature>`. Values without a valid signature are
 * ignored: only processes of this system have the key.
 */
export const CLIENT_HEADER = 'trestle-client';

/** A client as another process of this system has passed it on. */
export interface PassedClient {
  /** The pseudonym of the client's network, the same in every process with the same key. */
  readonly id: string;
  /** The truncated address, which may be shown: a /24 (IPv4) or /48 (IPv6) network such as `203.0.113.0/24`. */
  readonly address: string;
}

/** Identifies the clients of requests. */
export interface ClientIds {
  /** Returns the client's id, and keeps it with the request for {@link clientOf} and {@link toClientHeaders}. */
  identify(request: Received): string;
}

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

interface Known {
  readonly client: string;
  /** The value of {@link CLIENT_HEADER} for the next process; undefined without a key. */
  readonly signed: string | undefined;
  /** Set when another process of this system has passed the client on. */
  readonly passed?: PassedClient;
}

const ID_CHARACTERS = 16;
/** Networks and header values whose id is kept, and how long one of them may be. */
const MAX_REMEMBERED = 10_000;
const MAX_CHARACTERS = 100;
const SIGNATURE_CHARACTERS = 43;
const UNIDENTIFIED: Known = { client: '', signed: undefined };
const UNSIGNED: readonly string[] = [];

/** A property rather than an entry of a WeakMap, which costs more at each garbage collection than all else that a request passes here. */
const KNOWN = Symbol('client');

interface Identified {
  [KNOWN]?: Known;
}

/** Returns the id of the client that sent a request, which the service has identified; an empty string otherwise. */
export function clientOf(request: object): string {
  return ((request as Identified)[KNOWN] ?? UNIDENTIFIED).client;
}

/** Returns the name and value of the header that passes the client's id on to the next process; an empty list without a key. */
export function toClientHeaders(request: object): readonly string[] {
  const { signed } = (request as Identified)[KNOWN] ?? UNIDENTIFIED;
  return signed === undefined ? UNSIGNED : [CLIENT_HEADER, signed];
}

/** Returns the client that another process of this system has passed on; undefined for a request that came from elsewhere. */
export function passedClientOf(request: object): PassedClient | undefined {
  return ((request as Identified)[KNOWN] ?? UNIDENTIFIED).passed;
}

/**
 * Creates the identification of clients. `key` is the same in all processes that trust each other; undefined to trust none. Ids are
 * pseudonyms: they do not reveal the address. The header also has the truncated address. The peer is the client unless it is one of `proxies`.
 */
export function createClientIds(key: string | undefined, proxies: TrustedProxies = NO_PROXIES): ClientIds {
  const sign = (text: string) =>
    createHmac('sha256', key ?? '')
      .update(text)
      .digest('base64url');
  const toKnown = (id: string, address: string): Known => ({
    client: id,
    signed: `${id}.${address}.${sign(`client ${id} ${address}`)}`,
  });
  const byNetwork = remember((address): Known => {
    const network = toNetwork(address);
    if (key === undefined) return { client: network, signed: undefined };
    return toKnown(sign(`network ${network}`).slice(0, ID_CHARACTERS), toPublishedNetwork(address));
  });
  const byHeader = remember((value): Known | undefined => {
    const id = value.slice(0, ID_CHARACTERS);
    const address = value.slice(ID_CHARACTERS + 1, -SIGNATURE_CHARACTERS - 1);
    const claimed = toKnown(id, address);
    return isEqual(claimed.signed ?? '', value) ? { ...claimed, passed: { id, address } } : undefined;
  });
  return {
    identify(request) {
      const passed = key === undefined ? undefined : request.headers[CLIENT_HEADER];
      const found = (typeof passed === 'string' ? byHeader(passed) : undefined) ?? byNetwork(proxies.addressOf(request));
      (request as Identified)[KNOWN] = found;
      return found.client;
    },
  };
}

/** Returns a function that keeps the results of the latest calls, because a signature takes longer than a lookup. */
function remember<Result>(compute: (text: string) => Result): (text: string) => Result {
  const results = new Map<string, Result>();
  return (text) => {
    if (text.length > MAX_CHARACTERS) return compute(text);
    const found = results.get(text);
    if (found !== undefined || results.has(text)) return found as Result;
    if (results.size >= MAX_REMEMBERED) results.clear();
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

function isEqual(expected: string, given: string): boolean {
  const [a, b] = [Buffer.from(expected), Buffer.from(given)];
  return a.length === b.length && timingSafeEqual(a, b);
}
