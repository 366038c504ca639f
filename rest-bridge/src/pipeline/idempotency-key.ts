/**
 * Reads `Idempotency-Key` (spec §8, contract §4). The subgraph stores the key in the transaction of the write. The bridge stores nothing,
 * so that any bridge can receive the retry. No I/O.
 */
import type { FieldFault } from '@trestle/schema/errors';
import { findIdempotencyFaults } from '@trestle/service/messages/idempotency-key';
import type { OperationRoute } from '../routes/route.ts';

/** A key with its scope. The subgraph adds the caller: a key is valid for one caller, method and path. */
export interface IdempotencyKey {
  readonly key: string;
  readonly scope: string;
}

/** The parts of a request that make an idempotency key. */
export interface IdempotencyInput {
  readonly header: string | readonly string[] | undefined;
  /** The path after the version prefix, so that a retry in another version is still a retry. */
  readonly path: string;
}

/** Returns the key of a POST; undefined without one. Adds a fault for a key that is malformed, or missing where it is required. */
export function parseIdempotencyKey(
  { method, idempotency }: OperationRoute,
  { header: key, path }: IdempotencyInput,
  faults: FieldFault[],
): IdempotencyKey | undefined {
  if (method !== 'POST') return undefined;
  const found = findIdempotencyFaults({ key });
  faults.push(...found);
  if (key === undefined && idempotency === 'required') faults.push({ field: 'Idempotency-Key', message: 'is required' });
  if (typeof key !== 'string' || found.length > 0 || idempotency === 'ignored') return undefined;
  return { key, scope: `${method} ${path}` };
}
