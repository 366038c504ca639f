/** Reads a JSON body within its limit (contract §6, RFC 9110 §15.5.14 and §15.5.16). */
import type { IncomingMessage } from 'node:http';
import { Fault, fail } from '@trestle/schema/errors';
import { parseJson } from './json.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const MERGE_TYPE = /^application\/merge-patch\+json\s*(?:;|$)/i;

/** What a method takes, for `Accept-Post` and `Accept-Patch`. */
export function acceptedTypes(method: string): string {
  return method === 'PATCH' ? 'application/json, application/merge-patch+json' : 'application/json';
}

/** Throws UNSUPPORTED_MEDIA_TYPE for another type than JSON. Called before the body is looked at, since 415 beats 412 and 400. */
export function requireJson({ headers }: Pick<IncomingMessage, 'headers'>, method: string): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const isTaken = JSON_TYPE.test(type) || (method === 'PATCH' && MERGE_TYPE.test(type));
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8';
  if (!isTaken || !/^utf-?8$/i.test(charset)) throw fail('UNSUPPORTED_MEDIA_TYPE', `Send the body as ${acceptedTypes(method)}, in UTF-8`);
  if (encoding.toLowerCase() !== 'identity') throw fail('UNSUPPORTED_MEDIA_TYPE', 'Send the body without a Content-Encoding');
}

/** Gives the parsed body. Throws PAYLOAD_TOO_LARGE above 1 MiB, and VALIDATION_ERROR for what is not JSON in UTF-8. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  return parseJson(await readBytes(request));
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const tooLarge = () => fail('PAYLOAD_TOO_LARGE', `The body must not be larger than ${String(MAX_BODY_BYTES)} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) throw tooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    // The client is gone, or was too slow and has its 408 already: there is nobody left to tell.
    throw error instanceof Fault ? error : fail('REQUEST_TIMEOUT', 'The body did not arrive', { cause: error });
  }
  return Buffer.concat(chunks);
}
