/** Which passwords an account may have (NIST SP 800-63B-4 §3.1.1.2): long ones, that are neither common nor its own address. No I/O. */
import { checkString } from '@trestle/chassis/values/strings';
import type { FieldFault } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { dictionary } from '@zxcvbn-ts/language-common';

/** A new password, and the field in which it was sent. */
export interface NewPassword {
  readonly field: string;
  readonly password: string;
  /** The e-mail address of the account. */
  readonly email: string;
}

/** In lower case. */
const COMMON: ReadonlySet<string> = new Set(dictionary['passwords-common'] as Iterable<string>);
const LENGTH = lengthOf('CreateUserInput.password');

/** Returns the faults of a new password. Upper and lower case do not make a common password, or the address, another one. */
export function findPasswordFaults({ field, password, email }: NewPassword): FieldFault[] {
  const faults = checkString(password, { field, ...LENGTH });
  if (faults.length > 0) return faults;
  const [text, address] = [password.toLowerCase(), email.toLowerCase()];
  if (address !== '' && (text.includes(address) || text === address.split('@', 1)[0]))
    return [{ field, message: 'must not be the e-mail address of the account' }];
  return COMMON.has(text) ? [{ field, message: 'is one of the most common passwords, which are guessed first' }] : [];
}
