/** A client's Idempotency-Key on its way to the subgraphs, which keep it (spec §8, contract §4). No I/O. */
import type { IncomingHttpHeaders } from 'node:http';
import { type FieldFault, rejectFaults } from '@trestle/schema/errors';

const NONE: readonly string[] = [];

/** Names and values in turn. Reads the headers that go along with mutations: the key, and its scope where the bridge tells one. Throws VALIDATION_ERROR. */
export function readIdempotencyHeaders({ 'idempotency-key': key, 'idempotency-scope': scope }: IncomingHttpHeaders): readonly string[] {
  if (key === undefined) return NONE;
  const faults: FieldFault[] = [];
  if (!/^[\x21-\x7e]{1,255}$/.test(String(key)))
    faults.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  if (scope !== undefined && !/^[A-Z]+ \/[\x21-\x7e]{0,2047}$/.test(String(scope)))
    faults.push({ field: 'Idempotency-Scope', message: 'must be a method and a path' });
  rejectFaults(faults);
  return ['idempotency-key', String(key), ...(scope === undefined ? [] : ['idempotency-scope', String(scope)])];
}
