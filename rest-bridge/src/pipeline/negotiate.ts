/** Stage 4: chooses the media type of the response (RFC 9110 §12.5.1, contract §4). No I/O. */
import type { IncomingMessage } from 'node:http';
import { fail } from '@trestle/schema/errors';
import { toAcceptedTypes } from '@trestle/service/messages/accept';
import { EVENT_STREAM_TYPE, JSON_TYPE, PROBLEM_TYPE } from '../http/media-types.ts';
import type { FieldSelection } from '../query/field-selection.ts';
import { rejectRequest } from '../query/reject-request.ts';
import type { CompiledAlternative, CompiledRoute } from './compile.ts';

/** Returns the alternative that the client prefers; undefined for JSON, and for a route with its own content. Throws NOT_ACCEPTABLE. */
export function negotiate(compiled: CompiledRoute, accept: string | undefined, version: number): CompiledAlternative | undefined {
  const { route } = compiled;
  if (accept === undefined || accept === '*/*' || (accept === 'application/json' && 'operation' in route)) return undefined;
  if (!('operation' in route)) {
    const isAccepted = route.types.length === 0 || toAcceptedTypes(accept, route.types.map(withCharset)).length > 0;
    if (!isAccepted) throw notAcceptable(route.types);
    return undefined;
  }
  // Players and images of browsers accept any type; others learn it from the resource.
  if (route.success.content === 'file') return undefined;
  const alternatives = 'alternatives' in compiled ? compiled.alternatives : [];
  // A client that accepts only problem details gets its successful responses as JSON (RFC 9457 defines none).
  const jsonTypes = [JSON_TYPE, withCharset(`application/vnd.trestle.v${String(version)}+json`), PROBLEM_TYPE];
  const [preferred] = toAcceptedTypes(accept, [...jsonTypes, ...alternatives.map(({ type }) => type)]);
  if (preferred === undefined) throw notAcceptable(['application/json', ...alternatives.map(({ type }) => type)]);
  return alternatives.find(({ type }) => type === preferred);
}

/** Throws VALIDATION_ERROR for a selection of fields or related resources, which an alternative to JSON does not have. */
export function requireNoSelection({ fields, include }: FieldSelection, { type }: Pick<CompiledAlternative, 'type'>): void {
  const named = [...(fields ? ['fields'] : []), ...(include.length > 0 ? ['include'] : [])];
  rejectRequest(named.map((field) => ({ field, message: `cannot be combined with ${type}` })));
}

/** Returns whether the client prefers a stream of events to everything else that the route has. */
export function prefersStream(
  compiled: CompiledRoute,
  { method, headers: { accept } }: Pick<IncomingMessage, 'method' | 'headers'>,
): boolean {
  if (!('stream' in compiled) || accept === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  return toAcceptedTypes(accept, [JSON_TYPE, EVENT_STREAM_TYPE])[0] === EVENT_STREAM_TYPE;
}

/** The responses name their charset, and so may the ranges of the client. */
function withCharset(type: string): string {
  return `${type}; charset=utf-8`;
}

function notAcceptable(available: readonly string[]) {
  return fail('NOT_ACCEPTABLE', `Accept matches no available media type. Available: ${available.join(', ')}.`);
}
