/** Checks the password of an account that is logged in, before a change that a stolen token must not make. */
import { fail } from '@trestle/schema/errors';
import type { SessionClient } from '../session/store.ts';
import type { AuthenticateOptions } from './authenticate.ts';

/** What a caller sends to prove who it is. */
export interface PasswordProof {
  readonly userId: string;
  readonly password: string;
}

/**
 * Resolves with the hash that the password has matched. Rejects with FORBIDDEN when it is wrong, with RATE_LIMIT_EXCEEDED after too many
 * failures, and with SERVICE_UNAVAILABLE while too many passwords are being checked.
 */
export type ConfirmPassword = (proof: PasswordProof, client: SessionClient) => Promise<string>;

/** Creates the check. */
export function createConfirmPassword({ users, passwords, attempts }: AuthenticateOptions): ConfirmPassword {
  return async ({ userId, password }, client) => {
    const hash = await users.findPasswordHash(userId);
    const matched = await attempts.run({ kind: 'password', subject: userId, userId, client }, async () =>
      (await passwords.matches(password, hash)) ? hash : null,
    );
    if (matched === null) throw fail('FORBIDDEN', 'The current password is wrong.');
    return matched;
  };
}
