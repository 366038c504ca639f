/** Parses the body of `POST /auth/login` (contract §4). No I/O. */
import type { FieldFault } from '@trestle/schema/errors';
import type { ReaderInput, ReaderResult } from './request-reader.ts';

const FIELDS = ['email', 'password'];

/** Returns the variables of a login. Adds a fault for each field that is missing, unknown or not a string. */
export function parseLogin({ body }: ReaderInput, faults: FieldFault[]): ReaderResult {
  const sent = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  for (const field of FIELDS) {
    if (sent[field] === undefined) faults.push({ field, message: 'is required' });
    else if (typeof sent[field] !== 'string' || sent[field].includes('\0'))
      faults.push({ field, message: 'must be a string without the character U+0000' });
  }
  for (const field of Object.keys(sent)) if (!FIELDS.includes(field)) faults.push({ field, message: 'is unknown' });
  return { variables: { email: sent['email'], password: sent['password'] } };
}
