/** Tells whose request one is: by the peer's network, or by what a process of ours in front of this one says of its own client. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { toNetwork } from './connection-count.ts';

/** The header in which a process of ours passes on the id of its client; others' are ignored, since only ours have the key. */
export const CLIENT_HEADER = 'trestle-client';

export interface ClientIds {
  /** Remembers whose request this is; {@link clientOf} and {@link toClientHeaders} give it back. Returns the client. */
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
}

const ID_CHARACTERS = 16;
/** Networks and header values whose id is kept, and how long one of them may be. */
const MAX_REMEMBERED = 10_000;
const MAX_CHARACTERS = 100;
const NOBODY: Known = { client: '', signed: undefined };
const UNSIGNED: readonly string[] = [];

/** A property rather than an entry of a WeakMap, which costs more at each garbage collection than all else that a request passes here. */
const KNOWN = Symbol('client');

interface Identified {
  [KNOWN]?: Known;
}

/** Returns the client of a request that the service has received: requests of one client share its turns. */
export function clientOf(request: object): string {
  return ((request as Identified)[KNOWN] ?? NOBODY).client;
}

/** Returns the header, name and value, that tells the next process whose request this is; nothing without a key. */
export function toClientHeaders(request: object): readonly string[] {
  const { signed } = (request as Identified)[KNOWN] ?? NOBODY;
  return signed === undefined ? UNSIGNED : [CLIENT_HEADER, signed];
}

/** `key` is the same in all processes that believe each other; undefined to believe nobody. Ids are pseudonyms: they do not tell the address. */
export function createClientIds(key: string | undefined): ClientIds {
  const sign = (text: string) =>
    createHmac('sha256', key ?? '')
      .update(text)
      .digest('base64url');
  const toKnown = (id: string): Known => ({ client: id, signed: `${id}.${sign(`client ${id}`)}` });
  const byNetwork = remember((address): Known => {
    const network = toNetwork(address);
    return key === undefined ? { client: network, signed: undefined } : toKnown(sign(`network ${network}`).slice(0, ID_CHARACTERS));
  });
  const byHeader = remember((value): Known | undefined => {
    const claimed = toKnown(value.slice(0, ID_CHARACTERS));
    return isEqual(claimed.signed ?? '', value) ? claimed : undefined;
  });
  return {
    identify(request) {
      const passed = key === undefined ? undefined : request.headers[CLIENT_HEADER];
      const found = (typeof passed === 'string' ? byHeader(passed) : undefined) ?? byNetwork(request.socket.remoteAddress ?? '');
      (request as Identified)[KNOWN] = found;
      return found.client;
    },
  };
}

/** Keeps the results of the latest calls; signatures cost more than a look-up. */
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
