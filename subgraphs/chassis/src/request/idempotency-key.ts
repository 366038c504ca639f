/** Parses the headers of idempotent requests (spec §8, contract §4). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { rejectFaults } from '@trestle/schema/errors';
import { findIdempotencyFaults } from '@trestle/service/messages/idempotency-key';

/** The key by which a client marks requests as repetitions of one request (spec §8). */
export interface IdempotencyKey {
  readonly key: string;
  /** Method and path of the client's own request, as the bridge sends them, e.g. `POST /payments`; empty without a bridge. */
  readonly scope: string;
  /**
   * Whether only a stored result is wanted: the bridge, which sends `#stored` behind the scope, has found that the write must not run, and does
   * not know whether it has run before.
   */
  readonly isStoredOnly: boolean;
  /** Whether any part of the response is the stored result of an earlier request; the response says so in a header. */
  replayed: boolean;
}

/** No path of a request contains the character, which begins the fragment of a URL (RFC 3986 §3.5). */
const STORED_ONLY = '#stored';

/**
 * Parses `Idempotency-Key` and `Idempotency-Scope` (`<METHOD> <path>`, or `<METHOD> <path>#stored`). Returns null without a key. Throws
 * VALIDATION_ERROR.
 */
export function parseIdempotencyKey({
  'idempotency-key': key,
  'idempotency-scope': scope = '',
}: IncomingHttpHeaders): IdempotencyKey | null {
  if (key === undefined) return null;
  rejectFaults(findIdempotencyFaults({ key, scope: scope === '' ? undefined : scope }));
  const sent = String(scope);
  const isStoredOnly = sent.endsWith(STORED_ONLY);
  return { key: String(key), scope: isStoredOnly ? sent.slice(0, -STORED_ONLY.length) : sent, isStoredOnly, replayed: false };
}

/** Returns the headers by which a subgraph passes a key on to another one, which stores it; none without a key. */
export function toIdempotencyHeaders(idempotency: IdempotencyKey | null): Readonly<Record<string, string>> {
  if (!idempotency) return {};
  const { key, scope, isStoredOnly } = idempotency;
  return { 'idempotency-key': key, ...(scope !== '' && { 'idempotency-scope': isStoredOnly ? `${scope}${STORED_ONLY}` : scope }) };
}
