/** The HTTP door: `/graphql` by GET and POST, straight on node:http (contract §1, §6). */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { TokenVerifier } from '@trestle/identity/tokens';
import type { Log } from '@trestle/log';
import type { Refusal, RefusalAnswer } from '@trestle/service/refusals';
import { ERRORS, type ErrorCode, Fault, fail } from '@trestle/schema/errors';
import { readContext, readRequestId } from './caller.ts';
import type { Engine } from './engine.ts';
import { toTrailHeaders } from './trail.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const ALLOW = 'GET, POST, OPTIONS';
/** As JSON and GraphQL write it: no database can store it. */
const NUL = '\\u0000';

export interface DoorOptions {
  readonly engine: Engine;
  readonly verifier: TokenVerifier;
  readonly log: Log;
  /** Called once a request, when its answer has been written. */
  readonly observe: (status: number, seconds: number) => void;
}

/** Gives the handler of all requests that are no probes. */
export function createHttpDoor({
  engine,
  verifier,
  log,
  observe,
}: DoorOptions): (request: IncomingMessage, response: ServerResponse) => void {
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const requestId = readRequestId(request);
    response.setHeader('x-request-id', requestId);
    response.setHeader('x-content-type-options', 'nosniff');
    try {
      await pass(request, response, requestId);
    } catch (error) {
      refuse(response, { error, requestId, log });
    }
    const milliseconds = performance.now() - started;
    observe(response.statusCode, milliseconds / 1000);
    log.access({
      requestId,
      method: request.method ?? '',
      route: '/graphql',
      status: response.statusCode,
      durationMs: Math.round(milliseconds),
    });
  };

  async function pass(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const { method = 'GET', url = '/' } = request;
    const mark = url.indexOf('?');
    if ((mark < 0 ? url : url.slice(0, mark)) !== '/graphql') throw fail('NOT_FOUND', 'GraphQL is at /graphql');
    if (method === 'OPTIONS') {
      response.writeHead(200, { allow: ALLOW, 'content-length': '0' }).end();
      return;
    }
    if (method !== 'GET' && method !== 'POST') throw fail('METHOD_NOT_ALLOWED', 'Use GET or POST');
    const context = readContext(request, { verifier, requestId });
    const body = method === 'POST' ? await readBody(request) : undefined;
    const headers = new Map(
      Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
    );
    const reply = await engine.respond({ method, headers, search: mark < 0 ? '' : url.slice(mark), body, context });
    const told = { ...reply.headers, ...toTrailHeaders(context.trail, context.caller), 'cache-control': 'no-store' };
    send(response, { status: reply.status, headers: told, text: reply.body });
  }

  return (request, response) => void answer(request, response);
}

/** What was refused before it was a request is told as GraphQL tells errors. */
export function toRefusalAnswer({ code, message, requestId }: Refusal): RefusalAnswer {
  return { body: { errors: [{ message, extensions: { code, requestId } }] }, headers: { 'x-content-type-options': 'nosniff' } };
}

/** Throws UNSUPPORTED_MEDIA_TYPE, PAYLOAD_TOO_LARGE or VALIDATION_ERROR. */
async function readBody(request: IncomingMessage): Promise<unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers['content-type'] ?? ''))
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'Send the request as application/json');
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw fail('PAYLOAD_TOO_LARGE', `The body must not be larger than ${String(MAX_BODY_BYTES)} bytes`);
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(NUL)) throw fail('VALIDATION_ERROR', 'The character U+0000 is not allowed');
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString());
  } catch {
    throw fail('VALIDATION_ERROR', 'The body is not well-formed JSON');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw fail('VALIDATION_ERROR', 'The body must be one JSON object');
  return body;
}

/** Errors of the door have the shape of GraphQL errors, as those of the engine do. */
function refuse(response: ServerResponse, { error, requestId, log }: { error: unknown; requestId: string; log: Log }): void {
  const fault = error instanceof Fault ? error : fail('INTERNAL_ERROR', 'Something went wrong on our side');
  if (!(error instanceof Fault)) log.error('request failed', { requestId, error });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const headers: Partial<Record<ErrorCode, Record<string, string>>> = {
    METHOD_NOT_ALLOWED: { allow: ALLOW },
    UNAUTHORIZED: { 'www-authenticate': 'Bearer realm="api"' },
    PAYLOAD_TOO_LARGE: { connection: 'close' },
  };
  const extensions = { code: fault.code, ...(fault.details && { details: fault.details }), requestId };
  const text = JSON.stringify({ errors: [{ message: fault.message, extensions }] });
  send(response, {
    status: ERRORS[fault.code].status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...headers[fault.code] },
    text,
  });
}

function send(
  response: ServerResponse,
  { status, headers, text }: { status: number; headers: Readonly<Record<string, string>>; text: string },
): void {
  const bytes = Buffer.from(text);
  response.writeHead(status, { ...headers, 'content-length': String(bytes.length) });
  response.end(bytes);
}
