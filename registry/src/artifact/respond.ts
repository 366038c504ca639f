/** Responses of the endpoints beside GraphQL: text with an ETag, or an error in our envelope. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { toDatabaseFault } from '@trestle/chassis/database/database-faults';
import type { Log } from '@trestle/log';
import { type ErrorCode, fail, toFault } from '@trestle/schema/errors';
import { toRequestId } from '@trestle/service/messages/request-id';
import { sendFault } from '@trestle/chassis/request/send-fault';
import type { Endpoint } from '@trestle/chassis/server/subgraph';

/** What an endpoint answers. */
export type Reply =
  | { readonly kind: 'text'; readonly etag: string; readonly read: () => Promise<string> }
  | { readonly kind: 'json'; readonly body: unknown }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string };

/** Creates an endpoint. What `reply` throws is sent as an error, and logged when it is unexpected or of the database. */
export function createEndpoint(reply: (request: IncomingMessage, signal: AbortSignal) => Promise<Reply>, log: Log): Endpoint {
  return (request, response) => {
    const closed = new AbortController();
    response.once('close', () => {
      closed.abort();
    });
    reply(request, closed.signal)
      .then((result) => send(result, request, response))
      .catch((error: unknown) => {
        const databaseFault = toDatabaseFault(error);
        const fault = databaseFault ?? toFault(error);
        const requestId = toRequestId(request.headers['x-request-id']);
        if (fault.code === 'INTERNAL_ERROR') log.error('request failed', { requestId, error: fault.cause });
        if (databaseFault) log.warn('request failed', { requestId, error });
        if (response.headersSent) response.destroy();
        else sendFault({ request, response }, fault, requestId);
      });
  };
}

async function send(reply: Reply, request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (reply.kind === 'refused') {
    const fault = fail(reply.code, reply.message);
    sendFault({ request, response }, fault, toRequestId(request.headers['x-request-id']));
    return;
  }
  if (reply.kind === 'json') {
    sendBytes(response, Buffer.from(JSON.stringify(reply.body)), { 'content-type': 'application/json; charset=utf-8' });
    return;
  }
  const headers = { etag: reply.etag, 'cache-control': 'private, no-cache' };
  if (matches(request.headers['if-none-match'], reply.etag)) {
    response.writeHead(304, headers).end();
    return;
  }
  sendBytes(response, Buffer.from(await reply.read()), { ...headers, 'content-type': 'text/plain; charset=utf-8' });
}

function sendBytes(response: ServerResponse, bytes: Buffer, headers: Readonly<Record<string, string>>): void {
  response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
}

/** `If-None-Match` compares weakly (RFC 9110 §13.1.2). */
export function matches(condition: string | undefined, etag: string): boolean {
  return condition?.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, ''))) ?? false;
}
