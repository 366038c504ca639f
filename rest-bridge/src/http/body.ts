/** Reads a JSON body within its limit (contract §6, RFC 9110 §15.5.14 and §15.5.16). */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/(?:json|merge-patch\+json)\s*(?:;|$)/i;

/** Throws UNSUPPORTED_MEDIA_TYPE for another type than JSON. Called before the body is looked at, since 415 beats 412 and 400. */
export function requireJson(request: IncomingMessage): void {
  if (!JSON_TYPE.test(request.headers['content-type'] ?? '')) throw fail('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json');
}

/** Gives the parsed body. Throws PAYLOAD_TOO_LARGE above 1 MiB, and VALIDATION_ERROR for what is not JSON in UTF-8. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const text = await readText(request);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw fail('VALIDATION_ERROR', 'The body is not well-formed JSON');
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const tooLarge = () => fail('PAYLOAD_TOO_LARGE', `The body must not be larger than ${String(MAX_BODY_BYTES)} bytes`);
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw fail('VALIDATION_ERROR', 'The body is not UTF-8');
  }
}
