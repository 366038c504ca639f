/** Reads the body of a login (contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { Reading, RowRequest } from './reading.ts';

const FIELDS = ['email', 'password'];

export function readLogin({ body }: RowRequest, faults: FieldFault[]): Reading {
  const given = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  for (const field of FIELDS) {
    if (given[field] === undefined) faults.push({ field, message: 'is required' });
    else if (typeof given[field] !== 'string' || given[field].includes('\0'))
      faults.push({ field, message: 'must be a string without the character U+0000' });
  }
  for (const field of Object.keys(given)) if (!FIELDS.includes(field)) faults.push({ field, message: 'is not a field that can be sent' });
  return { variables: { email: given['email'], password: given['password'] } };
}
