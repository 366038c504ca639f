/** Compresses and writes responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Encoding, chooseEncoding, encode } from '@trestle/service/messages/encoding';
import { endBeforeBody, endsBeforeBody } from '@trestle/service/http1/streamed-body';
import type { HttpResponse } from './response.ts';

/** The content of a response and its media type. */
export interface ResponseContent {
  readonly content: string | Buffer;
  readonly type: string;
}

/** Returns the content coding of a response: the client's preferred one for JSON and text, and `identity` for all other types. */
export function chooseContentCoding({ headers }: IncomingMessage, { content, type }: ResponseContent): Encoding {
  return /json|text/.test(type) ? chooseEncoding(headers['accept-encoding'], content.length) : 'identity';
}

/** Returns the response with its content compressed; the same response, at once, for `identity`. */
export function withContentCoding(response: HttpResponse, encoding: Encoding): HttpResponse | Promise<HttpResponse> {
  return encoding === 'identity' || response.content === undefined ? response : compress(response, response.content, encoding);
}

async function compress(response: HttpResponse, content: string | Buffer, encoding: Encoding): Promise<HttpResponse> {
  const { headers } = response;
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return { ...response, headers: { ...headers, 'content-encoding': encoding }, content: await encode(bytes, encoding) };
}

/** Writes a response, without its content for HEAD. 204 and 304 have no `Content-Length` (RFC 9110 §8.6). */
export function sendResponse(request: IncomingMessage, response: ServerResponse, rendered: HttpResponse): void {
  const { status, headers, cookies, content } = rendered;
  if (cookies && cookies.length > 0) response.setHeader('set-cookie', [...cookies]);
  // A flat list is written without being copied.
  const fields: string[] = [];
  for (const name in headers) fields.push(name, headers[name] as string);
  if (status !== 204 && status !== 304) fields.push('content-length', String(Buffer.byteLength(content ?? '')));
  // The rest of a body that was refused is not used.
  const isUnread = endsBeforeBody(request, response, headers);
  if (isUnread && headers['connection'] === undefined) fields.push('connection', 'close');
  response.writeHead(status, fields);
  if (isUnread) endBeforeBody(request, response, content ?? '');
  else response.end(request.method === 'HEAD' ? undefined : content);
}
