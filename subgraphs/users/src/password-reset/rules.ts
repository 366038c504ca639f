/** The rules of password resets. Pure: no database, no clock. */
import { toStoredEmail } from '../user/email-address.ts';
import { rejectFaults } from '@trestle/schema/errors';

/** Whose password is to be reset, as the request names the account. */
export type ResetSubject = { readonly id: string } | { readonly email: string };

/** Parses the arguments of a request: exactly one of `id` and `email`. Throws VALIDATION_ERROR. */
export function parseResetSubject({ id, email }: { readonly id?: string | null; readonly email?: string | null }): ResetSubject {
  if (id == null && email != null) {
    rejectFaults(/^[^\s@]+@[^\s@]+$/.test(email) ? [] : [{ field: 'email', message: 'must be an e-mail address' }]);
    return { email };
  }
  if (id != null && email == null) return { id };
  rejectFaults([{ field: id == null ? 'email' : 'id', message: id == null ? 'is required' : 'must not be combined with email' }]);
  throw new Error('unreachable');
}

/** Returns the name under which requests for an account are counted; addresses are the same in upper and lower case. */
export function toSubjectName(subject: ResetSubject): string {
  return 'id' in subject ? subject.id : toStoredEmail(subject.email).toLowerCase();
}
