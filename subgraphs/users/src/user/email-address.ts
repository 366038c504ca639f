/** The e-mail addresses of accounts: their form, and the one way in which each is written. No I/O. */
import { checkString } from '@trestle/chassis/values/strings';
import type { FieldFault } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';

const EMAIL = /^[^\s@<>()[\],;:\\"]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/;
/** Two addresses that differ in them only look the same. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Co}]/u;
/** What callers who may not see an e-mail address get (contract §3). */
export const MASKED_EMAIL = '***@masked.invalid';
const IS_MASKED = /@masked\.invalid$/i;

/** Returns the faults of an address. */
export function checkEmail(email: string | null): FieldFault[] {
  const faults = checkString(email, { field: 'email', ...lengthOf('UpdateUserInput.email') });
  if (faults.length > 0 || email === null) return faults;
  if (!EMAIL.test(email)) return [{ field: 'email', message: 'must be an e-mail address' }];
  if (INVISIBLE.test(email)) return [{ field: 'email', message: 'must not contain control or other invisible characters' }];
  // A client that sends back what it has read would replace an address that it does not see.
  return IS_MASKED.test(email) ? [{ field: 'email', message: 'must not be the mask of a hidden address' }] : [];
}

/** Returns an address as it is stored: in Unicode's normalization form C (RFC 6532 §3.1), since keyboards write the same letter in two ways. */
export function toStoredEmail(email: string): string {
  return email.normalize('NFC');
}

/** Returns the input of a client with its address as it is stored. */
export function withStoredEmail<Input extends { readonly email?: string | null }>(input: Input): Input {
  return input.email == null ? input : { ...input, email: toStoredEmail(input.email) };
}
