/** Sends POST requests to the gateway, in the turns of their clients. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Cancellation } from '@trestle/service/cancellation';
import { CLIENT_HEADER } from '@trestle/service/client-id';
import type { Dispatcher, Pool } from 'undici';
import type { ResponseEnd } from '../http/response-end.ts';
import type { ClientTurns } from './client-turns.ts';

/** The files of a GraphQL multipart request. */
export interface RequestFiles {
  readonly contentType: string;
  /** Returns the whole body for these operations, in JSON. It is read no faster than it is sent, and once. */
  readonly toBody: (operations: string) => AsyncIterable<Buffer>;
}

/** The connections to the gateway, and the turns of the clients: for a connection, and for the processing of large responses. */
export interface Gateway {
  readonly pool: Pool;
  readonly requests: ClientTurns;
  readonly largeResponses: ClientTurns;
}

/** A POST request to the gateway. */
export interface PostRequest<Body = string> {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  readonly cancellation: Cancellation | undefined;
  /** The end of the client's response, until which the result takes memory. */
  readonly responseEnd: ResponseEnd;
}

/** The body of a response, and the header fields of it that the bridge passes on. */
export interface PostResult {
  readonly text: string;
  readonly replayed: string | undefined;
  readonly timing: string | undefined;
  readonly cacheControl: string | undefined;
  readonly age: string | undefined;
  readonly cookies: readonly string[];
}

/** It takes milliseconds to parse and render a larger response. One of them in each iteration of the event loop lets smaller ones pass. */
const LARGE_BYTES = 32 * 1024;
/** The header fields of a response, by their lower-case names. */
type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

const NO_COOKIES: readonly string[] = [];

/** Pauses before a request is sent again after its connection was refused. */
const RETRY_DELAYS_MS = [25, 100, 250, 500];

/**
 * Sends a request again only when it certainly did not arrive: its connection was refused, as during a restart of the gateway
 * (RFC 9110 §9.2.2). A request that may have arrived is never repeated.
 */
export async function postWhenReachable(gateway: Gateway, request: PostRequest): Promise<PostResult> {
  for (const delayMs of RETRY_DELAYS_MS) {
    try {
      return await post(gateway, request);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') throw error;
      await delay(delayMs);
    }
  }
  return post(gateway, request);
}

/** Sends a request with files, once: they cannot be read a second time. */
export function postFiles(gateway: Gateway, { body, headers, ...request }: PostRequest, files: RequestFiles): Promise<PostResult> {
  return post(gateway, { ...request, headers: { ...headers, 'content-type': files.contentType }, body: Readable.from(files.toBody(body)) });
}

/** Uses `dispatch`, because a stream between would take a third of the CPU time of a request. */
function post(
  { pool, requests, largeResponses }: Gateway,
  { path, headers, body, cancellation, responseEnd }: PostRequest<string | Readable>,
): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    const client = headers[CLIENT_HEADER] ?? '';
    const chunks: Buffer[] = [];
    let received = 0;
    let head: Fields = {};
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(controller) {
        cancellation?.add(controller);
      },
      onResponseStart(_, __, fields) {
        head = fields;
      },
      onResponseData(_, chunk) {
        chunks.push(chunk);
        received += chunk.length;
      },
      onResponseEnd() {
        responseEnd.after(requests.hold(client, received));
        requests.release(client);
        const finish = () => {
          resolve(toResult(chunks, head));
        };
        if (received <= LARGE_BYTES) finish();
        else
          largeResponses.take(client, () => {
            finish();
            // What waits for the result goes on in microtasks, which run before this.
            setImmediate(() => {
              largeResponses.release(client);
            });
          });
      },
      onResponseError(_, error) {
        requests.release(client);
        reject(error);
      },
    };
    const begin = () => {
      pool.dispatch({ method: 'POST', path, headers, body }, handler);
    };
    if (requests.take(client, begin)) return;
    cancellation?.add({
      abort(reason) {
        if (requests.leave(client, begin)) reject(reason);
      },
    });
  });
}

function toResult(chunks: readonly Buffer[], fields: Fields): PostResult {
  const [only, ...others] = chunks;
  const cookies = fields['set-cookie'] ?? NO_COOKIES;
  return {
    text: only && others.length === 0 ? only.toString() : Buffer.concat(chunks).toString(),
    replayed: fields['idempotent-replayed'] as string | undefined,
    timing: fields['server-timing'] as string | undefined,
    cacheControl: fields['cache-control'] as string | undefined,
    age: fields['age'] as string | undefined,
    cookies: typeof cookies === 'string' ? [cookies] : cookies,
  };
}
