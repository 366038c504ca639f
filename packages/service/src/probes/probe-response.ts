/** The response to a probe, and to a request for metrics. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ERRORS, type ErrorCode } from '@trestle/schema/errors';
import { toRequestId } from '../messages/request-id.ts';

/** The media type of probes, but for metrics. */
export const JSON_TYPE = 'application/json; charset=utf-8';

/** The response to a probe. */
export interface ProbeResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const RETRY_AFTER_SECONDS = '1';
/** The methods of a probe. */
const ALLOW = 'GET, HEAD, OPTIONS';

/** Returns the response to a method that reads nothing: the methods of the path, or 405 (RFC 9110 §9.3.7, §15.5.6). */
export function toMethodResponse({ method = '' }: IncomingMessage, requestId: string): ProbeResponse {
  const headers = { allow: ALLOW };
  if (method === 'OPTIONS') return { status: 200, type: JSON_TYPE, body: '', headers };
  const code: ErrorCode = 'METHOD_NOT_ALLOWED';
  const message = `Method ${method} is not allowed for the path. Allowed methods: ${ALLOW}.`;
  return { status: ERRORS[code].status, type: JSON_TYPE, body: JSON.stringify({ error: { code, message, requestId } }), headers };
}

/** Writes the response with the id of the request, or 503 when `read` rejects. A 503 has `Retry-After` (spec §8). */
export async function send(
  read: (requestId: string) => Promise<ProbeResponse>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const requestId = toRequestId(request.headers['x-request-id']);
  const { status, type, body, headers } = await read(requestId).catch((): ProbeResponse => ({ status: 503, type: 'text/plain', body: '' }));
  response.writeHead(status, {
    'content-type': type,
    'cache-control': 'no-store',
    'x-request-id': requestId,
    ...(status === 503 && { 'retry-after': RETRY_AFTER_SECONDS }),
    ...headers,
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}
