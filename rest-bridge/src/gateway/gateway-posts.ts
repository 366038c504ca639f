/** Sends POST requests to the gateway, in the turns of their clients. */
import { Readable } from 'node:stream';
import { ClientError, type ClientResponse, type UpstreamClient } from '@trestle/http-client/upstream-client';
import type { Cancellation } from '@trestle/service/process/cancellation';
import { CLIENT_HEADER } from '@trestle/service/clients/client-id';
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
  readonly client: UpstreamClient;
  /** Sends requests whose bodies are streams. */
  readonly uploadClient: UpstreamClient<Readable>;
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
  readonly readText: () => string;
  readonly replayed: string | undefined;
  readonly timing: string | undefined;
  readonly cacheControl: string | undefined;
  readonly age: string | undefined;
  readonly cookies: readonly string[];
}

/** It takes milliseconds to parse and render a larger response. One of them in each iteration of the event loop lets smaller ones pass. */
const LARGE_BYTES = 32 * 1024;
/** Pauses before a request is sent again after its connection was refused. */
const RETRY_DELAYS_MS = [25, 100, 250, 500];

/**
 * Sends a request again only when it certainly did not arrive: its connection was refused, as during a restart of the gateway
 * (RFC 9110 §9.2.2). A request that may have arrived is never repeated.
 */
export function postWhenReachable(gateway: Gateway, request: PostRequest): Promise<PostResult> {
  return new Promise((resolve, reject) => {
    const delaysMs = RETRY_DELAYS_MS.values();
    const send = () => {
      post({ gateway, connections: gateway.client }, request, { onResult: resolve, onFailure });
    };
    const onFailure = (error: ClientError) => {
      const delayMs = isRefused(error) ? delaysMs.next().value : undefined;
      if (delayMs === undefined) reject(error);
      else setTimeout(send, delayMs);
    };
    send();
  });
}

/** Sends a request with files, once: they cannot be read a second time. */
export function postFiles(gateway: Gateway, { body, headers, ...request }: PostRequest, files: RequestFiles): Promise<PostResult> {
  const sent = { ...request, headers: { ...headers, 'content-type': files.contentType }, body: Readable.from(files.toBody(body)) };
  return new Promise((onResult, onFailure) => {
    post({ gateway, connections: gateway.uploadClient }, sent, { onResult, onFailure });
  });
}

function isRefused({ cause }: ClientError): boolean {
  return (cause as NodeJS.ErrnoException | undefined)?.code === 'ECONNREFUSED';
}

/** Gets the result of one request: one call of one function. */
interface PostHandler {
  readonly onResult: (result: PostResult) => void;
  readonly onFailure: (error: ClientError) => void;
}

/** Sends a request in the turn of its client. */
function post<Body>(
  { gateway, connections }: { readonly gateway: Gateway; readonly connections: UpstreamClient<Body> },
  { path, headers, body, cancellation, responseEnd }: PostRequest<Body>,
  handler: PostHandler,
): void {
  const { requests, largeResponses } = gateway;
  const client = headers[CLIENT_HEADER] ?? '';
  const onResponse = (response: ClientResponse) => {
    const size = response.bodyEnd - response.bodyStart;
    const isLarge = size > LARGE_BYTES;
    const result = toResult(response, isLarge);
    responseEnd.after(requests.hold(client, size));
    requests.release(client);
    if (!isLarge) {
      handler.onResult(result);
      return;
    }
    largeResponses.take(client, () => {
      handler.onResult(result);
      // What waits for the result goes on in microtasks, which run before this.
      setImmediate(() => {
        largeResponses.release(client);
      });
    });
  };
  const onFailure = (error: ClientError) => {
    requests.release(client);
    handler.onFailure(error);
  };
  const begin = () => {
    const request = connections.send({ path, headers: toPairs(headers), body }, { onResponse, onFailure });
    cancellation?.add(request);
  };
  if (requests.take(client, begin)) return;
  cancellation?.add({
    abort(reason) {
      if (requests.leave(client, begin)) handler.onFailure(new ClientError('ABORTED', reason.message, { cause: reason }));
    },
  });
}

function toPairs(headers: PostRequest['headers']): string[] {
  const pairs: string[] = [];
  for (const name in headers) pairs.push(name, headers[name] as string);
  return pairs;
}

/** A large body is copied and becomes text in its turn, because that takes time too. The bytes are lent until the handler returns. */
function toResult(response: ClientResponse, isLarge: boolean): PostResult {
  const { bytes, bodyStart, bodyEnd } = response;
  const kept = isLarge ? Buffer.from(bytes.subarray(bodyStart, bodyEnd)) : undefined;
  const text = kept ? undefined : bytes.toString('utf8', bodyStart, bodyEnd);
  return {
    readText: () => text ?? (kept as Buffer).toString(),
    replayed: response.header('idempotent-replayed'),
    timing: response.header('server-timing'),
    cacheControl: response.header('cache-control'),
    age: response.header('age'),
    cookies: response.headerValues('set-cookie'),
  };
}
