/** Reads the body of a login (contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Reading, RowRequest } from '../routes/row.ts';

export function readLogin({ body }: RowRequest, faults: FieldFault[]): Reading {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  for (const field of ['email', 'password']) {
    if (given[field] === undefined) faults.push({ field, message: 'is required' });
    else if (typeof given[field] !== 'string') faults.push({ field, message: 'must be a text' });
  }
  return { variables: { email: given['email'], password: given['password'] } };
}
