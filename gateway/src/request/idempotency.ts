/** Reads the Idempotency-Key of a request, which subgraphs keep (spec §8, contract §4). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { rejectFaults } from '@trestle/schema/errors';
import { findIdempotencyFaults } from '@trestle/service/messages/idempotency-key';

const NONE: readonly string[] = [];

/**
 * Returns the headers that mutations carry, names and values in turn: the key, and the scope that the bridge sends with it.
 * Throws VALIDATION_ERROR that names every invalid header.
 */
export function readIdempotencyHeaders({ 'idempotency-key': key, 'idempotency-scope': scope }: IncomingHttpHeaders): readonly string[] {
  if (key === undefined) return NONE;
  rejectFaults(findIdempotencyFaults({ key, scope }));
  return ['idempotency-key', String(key), ...(scope === undefined ? [] : ['idempotency-scope', String(scope)])];
}
