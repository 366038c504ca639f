/** Sends one delivery over HTTP: signed, without redirects, within limits of time and size, to public addresses only. */
import { followSignal } from '@trestle/http-client/follow-signal';
import { Agent as UndiciAgent } from '@trestle/http-client/undici';
import type { Agent } from 'undici';
import { toCloudEvent } from '../journal/rules.ts';
import { sign } from '../webhook/secrets.ts';
import { PrivateAddressError, createLookup, findAddressFault } from './addresses.ts';
import { type Attempt, type Response, toLoggedHeaders } from './rules.ts';
import type { ClaimedDelivery } from './claim.ts';

/** A whole attempt ends within this time; the lease of a delivery is longer. */
export const ATTEMPT_MS = 20_000;
const CONNECT_MS = 5000;
/** What is read of a response; the rest is not waited for. */
const MAX_RESPONSE_BYTES = 64 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const USER_AGENT = 'Trestle-Webhooks/1';

/** Sends deliveries. */
export interface Sender {
  /** Makes one attempt. Never rejects: what is wrong stands in the attempt. Aborted attempts count as not made. */
  send(delivery: ClaimedDelivery, secrets: readonly Buffer[], signal: AbortSignal): Promise<Attempt>;
  close(): Promise<void>;
}

/** How deliveries are sent. */
export interface SenderOptions {
  readonly allowsPrivate: boolean;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** Creates the sender. Every connection resolves its name anew, and is closed after a short pause. */
export function createSender({ allowsPrivate, now }: SenderOptions): Sender {
  const agent = new UndiciAgent({
    connect: { timeout: CONNECT_MS, lookup: createLookup(allowsPrivate) },
    headersTimeout: ATTEMPT_MS,
    bodyTimeout: ATTEMPT_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: 1000,
    keepAliveMaxTimeout: 5000,
    pipelining: 1,
  });
  return {
    async send({ url, eventId, event }, secrets, signal) {
      const startedMs = now();
      const timestamp = Math.floor(startedMs / 1000);
      const body = JSON.stringify(toCloudEvent(event));
      const logged = {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': USER_AGENT,
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
      };
      const headers = { ...logged, 'webhook-signature': sign(secrets, { id: eventId, timestamp, body }) };
      const response = await post(agent, { url, headers, body, allowsPrivate, signal });
      return {
        startedAt: new Date(startedMs).toISOString(),
        durationMs: Math.max(0, now() - startedMs),
        requestHeaders: logged,
        status: response.status,
        responseHeaders: response.headers,
        error: response.error,
      };
    },
    close: () => agent.destroy(),
  };
}

interface Post {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowsPrivate: boolean;
  readonly signal: AbortSignal;
}

/** undici follows no redirect: a 3xx is a response like any other. */
async function post(agent: Agent, { url, headers, body, allowsPrivate, signal: stopping }: Post): Promise<Response> {
  const { signal, end } = followSignal(stopping, ATTEMPT_MS);
  try {
    const { origin, pathname, search } = new URL(url);
    // A name is checked when it is resolved; an address never is.
    const fault = allowsPrivate ? undefined : findAddressFault(new URL(url));
    if (fault !== undefined) throw new PrivateAddressError(`The address ${fault}`);
    const response = await agent.request({ origin, path: `${pathname}${search}`, method: 'POST', headers, body, signal });
    const { statusCode: status } = response;
    const error = await response.body.dump({ limit: MAX_RESPONSE_BYTES, signal }).then(
      () => null,
      // The status has arrived: the rest of the body does not matter.
      () => null,
    );
    const isSuccess = status >= 200 && status < 300;
    return { status, headers: toLoggedHeaders(response.headers), error: isSuccess ? error : describeStatus(status) };
  } catch (error) {
    return { status: null, headers: null, error: describeFailure(error) };
  } finally {
    end();
  }
}

function describeStatus(status: number): string {
  if (status >= 300 && status < 400) return 'The endpoint redirects, which is not followed.';
  return `The endpoint answered ${String(status)}.`;
}

/** What the owner of the endpoint may know of a failure: its kind, but no addresses of this network. */
const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The connection was refused.',
  ECONNRESET: 'The connection was closed before a response.',
  UND_ERR_SOCKET: 'The connection was closed before a response.',
  ENOTFOUND: 'The name of the host does not resolve.',
  EAI_AGAIN: 'The name of the host does not resolve now.',
  UND_ERR_CONNECT_TIMEOUT: 'The connection was not accepted in time.',
  UND_ERR_HEADERS_TIMEOUT: 'The endpoint did not answer in time.',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the response are too large.',
};

function describeFailure(error: unknown): string {
  if (error instanceof PrivateAddressError) return 'The host has an address of a private or special network.';
  const { name, code = '', message } = error as NodeJS.ErrnoException;
  if (name === 'TimeoutError') return 'The endpoint did not answer in time.';
  if (/CERT|SSL|TLS|SELF_SIGNED|UNABLE_TO/.test(code)) return 'The certificate of the endpoint is not valid.';
  return FAILURES[code] ?? (message.startsWith('Response') ? 'The response is not HTTP.' : 'The request failed.');
}
