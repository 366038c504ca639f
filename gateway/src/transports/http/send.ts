/** Sends responses: headers and body in one write, compressed when the client accepts it. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isLean } from '@trestle/service/http1/lean-reader/lean-response';
import { endBeforeBody, endsBeforeBody, isStreamed } from '@trestle/service/http1/streamed-body';
import { NO_STORE_TEXT } from '../../request/cache-policy.ts';
import type { OperationResult } from '../../request/operation.ts';
import type { Compression } from './compression.ts';

/** Headers by their names in lower case; one that is sent several times has several values. */
export type Head = Readonly<Record<string, string | string[]>>;

/** Returns the header `Retry-After`; no header without seconds. */
export function toRetryAfter(seconds: number | undefined): Head {
  return seconds === undefined ? {} : { 'retry-after': String(seconds) };
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  /** `Vary`, unless the head has another. */
  readonly vary: string;
}

interface ResultExchange extends Exchange {
  readonly compression: Compression;
}

/** A result of at most this size is copied, so that it is written together with the headers. */
const SMALL_BYTES = 16 * 1024;

/** Sends a result and releases its buffer. */
export function sendBytes(
  exchange: ResultExchange,
  { status, head, result }: { status: number; head: Head; result: OperationResult },
): void {
  const { request, response, compression } = exchange;
  const { bytes, length, release } = result;
  response.statusCode = status;
  const encoding = compression.choose(request.headers['accept-encoding'], length);
  if (encoding !== 'identity') {
    const plain = Buffer.from(bytes.subarray(0, length));
    release?.();
    compression.compress(plain, encoding).then(
      (encoded) => {
        // The client may have disconnected meanwhile.
        if (response.destroyed) return;
        writeHead(exchange, { status, head: { ...head, 'content-encoding': encoding }, length: encoded.length });
        if (isStreamed(request)) endBeforeBody(request, response, encoded);
        else response.end(encoded);
      },
      () => response.destroy(),
    );
    return;
  }
  writeHead(exchange, { status, head, length });
  if (length <= SMALL_BYTES) {
    // `latin1` copies each byte unchanged, including those of UTF-8 sequences.
    endAtOnce(exchange, bytes.toString('latin1', 0, length));
    release?.();
    return;
  }
  if (isStreamed(request)) {
    endBeforeBody(request, response, Buffer.from(bytes.subarray(0, length)));
    release?.();
  } else response.end(bytes.subarray(0, length), release);
}

/**
 * Ends a response with its headers and its body in one string. `end` with a body adds an empty chunk behind it, so that Node.js sends a vector of two,
 * which costs more.
 */
function endAtOnce({ request, response }: Exchange, text: string): void {
  if (isStreamed(request)) {
    endBeforeBody(request, response, Buffer.from(text, 'latin1'));
    return;
  }
  const { socket } = response;
  if (!socket || request.httpVersionMajor !== 1 || isLean(response)) {
    response.end(text, 'latin1');
    return;
  }
  socket.cork();
  response.write(text, 'latin1');
  socket.uncork();
  response.end();
}

/** Sends a string as UTF-8. */
export function sendText(exchange: Exchange, { status, head, text }: { status: number; head: Head; text: string }): void {
  const bytes = Buffer.from(text);
  writeHead(exchange, { status, head, length: bytes.length });
  const { request, response } = exchange;
  if (endsBeforeBody(request, response, head)) endBeforeBody(request, response, bytes);
  else response.end(bytes);
}

/** Sends 304, which has no body. */
export function sendNotModified(exchange: Exchange, whole: Head): void {
  const head = Object.fromEntries(Object.entries(whole).filter(([name]) => name !== 'content-type'));
  writeHead(exchange, { status: 304, head, length: undefined });
  exchange.response.end();
}

function writeHead(exchange: Exchange, { status, head, length }: { status: number; head: Head; length: number | undefined }): void {
  const { request, response, requestId } = exchange;
  const headers: (string | string[])[] = [
    'x-request-id',
    requestId,
    'cache-control',
    head['cache-control'] ?? NO_STORE_TEXT,
    'vary',
    head['vary'] ?? exchange.vary,
  ];
  for (const name in head) if (name !== 'cache-control' && name !== 'vary') headers.push(name, head[name] as string | string[]);
  // The rest of the files is not read.
  if (isStreamed(request) && !request.complete && head['connection'] === undefined) headers.push('connection', 'close');
  if (length !== undefined) headers.push('content-length', String(length));
  response.writeHead(status, headers);
}
