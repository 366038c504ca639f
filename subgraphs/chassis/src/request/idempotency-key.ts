/** Parses the headers of idempotent requests (spec §8, contract §4). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { rejectFaults } from '@trestle/schema/errors';
import { findIdempotencyFaults } from '@trestle/service/messages/idempotency-key';

/** The key by which a client marks requests as repetitions of one request (spec §8). */
export interface IdempotencyKey {
  readonly key: string;
  /** Method and path of the client's own request, as the bridge sends them, e.g. `POST /payments`; empty without a bridge. */
  readonly scope: string;
  /** Whether any part of the response is the stored result of an earlier request; the response says so in a header. */
  replayed: boolean;
}

/** Parses `Idempotency-Key` and `Idempotency-Scope` (`<METHOD> <path>`). Returns null without a key. Throws VALIDATION_ERROR. */
export function parseIdempotencyKey({
  'idempotency-key': key,
  'idempotency-scope': scope = '',
}: IncomingHttpHeaders): IdempotencyKey | null {
  if (key === undefined) return null;
  rejectFaults(findIdempotencyFaults({ key, scope: scope === '' ? undefined : scope }));
  return { key: String(key), scope: String(scope), replayed: false };
}
