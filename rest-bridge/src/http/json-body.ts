/** Reads a JSON request body within its limit (contract §6, RFC 9110 §15.5.14 and §15.5.16). */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { parseStrictJson } from '@trestle/service/messages/strict-json';
import { readBytes } from './read-bytes.ts';

const MAX_BODY_BYTES = 1024 * 1024;
const JSON_TYPE = /^application\/json\s*(?:;|$)/i;
const MERGE_PATCH_TYPE = /^application\/merge-patch\+json\s*(?:;|$)/i;

/** Returns the media types of a body that a method accepts, as `Accept-Post` and `Accept-Patch` list them. */
export function toAcceptedBodyTypes(method: string): string {
  return method === 'PATCH' ? 'application/json, application/merge-patch+json' : 'application/json';
}

/**
 * Throws UNSUPPORTED_MEDIA_TYPE when `Content-Type` is not JSON in UTF-8, or when the body has a content coding. Runs before the body is
 * read, because 415 takes precedence over 412 and 400.
 */
export function requireJson({ headers }: Pick<IncomingMessage, 'headers'>, method: string): void {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  const isAccepted = JSON_TYPE.test(type) || (method === 'PATCH' && MERGE_PATCH_TYPE.test(type));
  const charset = /;\s*charset\s*=\s*"?([^\s;"]+)/i.exec(type)?.[1] ?? 'utf-8';
  if (!isAccepted || !/^utf-?8$/i.test(charset))
    throw fail('UNSUPPORTED_MEDIA_TYPE', `Content-Type must be ${toAcceptedBodyTypes(method).replace(', ', ' or ')}, in UTF-8.`);
  if (encoding.toLowerCase() !== 'identity')
    throw fail('UNSUPPORTED_MEDIA_TYPE', 'Content-Encoding is not supported for request bodies. Send the body uncompressed.');
}

/**
 * Returns the parsed body. Throws PAYLOAD_TOO_LARGE above 1 MiB, VALIDATION_ERROR when the body is not strict JSON, and REQUEST_TIMEOUT
 * when the connection closes before the body is complete.
 */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  return parseStrictJson(await readBytes(request, MAX_BODY_BYTES));
}
