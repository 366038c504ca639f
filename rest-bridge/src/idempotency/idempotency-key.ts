/**
 * Reads `Idempotency-Key` (spec §8, contract §4). What it protects is kept by the subgraph, in the transaction of the write itself: the
 * bridge keeps nothing, so that any bridge may get the retry. No I/O.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FieldFault } from '@trestle/schema/errors';
import type { OperationRow } from '../routes/row.ts';

/** Travels to the subgraph, which adds the caller: a key is good for one caller, method and path. */
export interface IdempotencyKey {
  readonly key: string;
  readonly scope: string;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

interface KeyRequest {
  readonly headers: IncomingHttpHeaders;
  /** Below the version prefix, so that a retry under another version is still a retry. */
  readonly path: string;
}

/** The key of a POST; undefined without one. Adds a fault for one that is malformed, or missing where it is needed. */
export function readIdempotencyKey(
  { method, idempotency }: OperationRow,
  { headers, path }: KeyRequest,
  faults: FieldFault[],
): IdempotencyKey | undefined {
  if (method !== 'POST') return undefined;
  const key = headers['idempotency-key'];
  if (key === undefined) {
    if (idempotency === 'needed') faults.push({ field: 'Idempotency-Key', message: 'is required' });
    return undefined;
  }
  if (typeof key !== 'string' || !KEY.test(key)) {
    faults.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
    return undefined;
  }
  return idempotency === 'without effect' ? undefined : { key, scope: `${method} ${path}` };
}
