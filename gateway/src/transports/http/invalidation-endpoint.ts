/** `POST /response-cache`: invalidates results by tags and types, for clients that have the key of the operator. */
import type { IncomingMessage } from 'node:http';
import { isBearerKey } from '@trestle/identity/credentials/bearer-key';
import { type FieldFault, fail } from '@trestle/schema/errors';
import { ALL_TAG, isTag, toReceivedTag, toTypeTag } from '../../cache/received-tags.ts';
import type { ResponseCache } from '../../cache/response-cache.ts';
import { formatFault } from '../../errors/format-fault.ts';
import type { Endpoint } from './admitted-request.ts';
import { type Body, readBody } from './body.ts';

const ALLOW = 'POST, OPTIONS';
/** The most tags and types of one request. */
const MAX_ITEMS = 1000;
const TYPE = /^[_A-Za-z]\w{0,127}$/;

/** Creates the endpoint. `key` is what clients send as a bearer token. */
export function createInvalidationEndpoint(cache: ResponseCache, key: string): Endpoint {
  return {
    path: '/response-cache',
    refusals: { allow: ALLOW, format: (fault, requestId) => ({ errors: [formatFault(fault, requestId)] }) },
    handle(exchange, _, { maxBodyBytes }) {
      const { request } = exchange;
      if (request.method === 'OPTIONS') {
        exchange.sendText(200, { allow: ALLOW }, '');
        return;
      }
      if (request.method !== 'POST') throw fail('METHOD_NOT_ALLOWED', 'Use POST.');
      requireKey(request, key);
      readBody(request, maxBodyBytes, (error, body) => {
        exchange.guard(() => {
          if (error) throw error;
          cache.invalidate(readTags(body), (isShared) => {
            exchange.guard(() => {
              if (!isShared) throw fail('SERVICE_UNAVAILABLE', 'Redis did not confirm the invalidation in time. It is tried again.');
              exchange.sendText(200, { 'content-type': 'application/json; charset=utf-8' }, '{"invalidated":true}');
            });
          });
        });
      });
    },
  };
}

/** Throws UNAUTHORIZED. */
function requireKey({ headers: { authorization = '' } }: IncomingMessage, key: string): void {
  if (!isBearerKey(authorization, key))
    throw fail('UNAUTHORIZED', 'Send the key of responseCache.key as a bearer token.', { isInvalidCredential: authorization !== '' });
}

/** Returns the tags that a body names. Throws VALIDATION_ERROR that names every invalid member. */
function readTags(body: Body): readonly string[] {
  if (Array.isArray(body)) throw fail('VALIDATION_ERROR', 'The body must be a JSON object.');
  const { tags = [], types = [], all = false, ...others } = body as Readonly<Record<string, unknown>>;
  const details: FieldFault[] = Object.keys(others)
    .slice(0, 20)
    .map((field) => ({ field: field.slice(0, 100), message: 'unknown member' }));
  if (!isListOf(tags, isTag)) details.push({ field: 'tags', message: `must be a list of at most ${String(MAX_ITEMS)} tags` });
  if (!isListOf(types, (type) => TYPE.test(type)))
    details.push({ field: 'types', message: `must be a list of at most ${String(MAX_ITEMS)} names of types` });
  if (typeof all !== 'boolean') details.push({ field: 'all', message: 'must be true or false' });
  if (details.length > 0)
    throw fail('VALIDATION_ERROR', `${details.map(({ field, message }) => `\`${field}\` ${message}`).join('; ')}.`, { details });
  const named = [...(tags as string[]).map(toReceivedTag), ...(types as string[]).map(toTypeTag), ...(all === true ? [ALL_TAG] : [])];
  if (named.length === 0) throw fail('VALIDATION_ERROR', 'Name what is invalidated: `tags`, `types`, or `all`.');
  return named;
}

function isListOf(value: unknown, isItem: (item: string) => boolean): boolean {
  return Array.isArray(value) && value.length <= MAX_ITEMS && value.every((item) => typeof item === 'string' && isItem(item));
}
