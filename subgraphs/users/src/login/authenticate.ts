/** Checks an e-mail address and a password, for every login: by GraphQL, by REST and on the page of the authorization server. */
import { fail } from '@trestle/schema/errors';
import type { SessionClient } from '../session/store.ts';
import type { Passwords } from '../user/passwords.ts';
import type { User } from '../user/rules.ts';
import type { UserStore } from '../user/store.ts';
import type { Attempts } from './attempts.ts';

/** What a person enters to log in. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/**
 * Resolves with the active account of these credentials. Rejects with UNAUTHORIZED, in the same words and after the same time whatever is
 * wrong; with RATE_LIMIT_EXCEEDED after too many failures, also for the right password and for accounts that do not exist; and with
 * SERVICE_UNAVAILABLE while too many passwords are being checked.
 */
export type Authenticate = (credentials: Credentials, client: SessionClient) => Promise<User>;

/** Returns the error of a login whose account was changed after its password, or its second factor, was checked. */
export function changedDuringLogin(): Error {
  return fail('UNAUTHORIZED', 'The account was changed during the login. Log in again.');
}

/** What credentials are checked with. */
export interface AuthenticateOptions {
  readonly users: Pick<UserStore, 'findForLogin' | 'findPasswordHash'>;
  readonly passwords: Pick<Passwords, 'matches'>;
  readonly attempts: Attempts;
}

/** Creates the check. */
export function createAuthenticate({ users, passwords, attempts }: AuthenticateOptions): Authenticate {
  return async ({ email, password }, client) => {
    const { loginName, account } = await users.findForLogin(email);
    const accepted = await attempts.run({ kind: 'login', subject: loginName, userId: account?.id, client }, async () => {
      const matches = await passwords.matches(password, account?.passwordHash ?? null);
      return account && matches && account.isActive ? account : null;
    });
    if (!accepted) throw fail('UNAUTHORIZED', 'The e-mail address or the password is wrong.');
    return accepted;
  };
}
