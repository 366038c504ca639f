/** Makes an administrator: a new account, or an existing one that is promoted. */
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail } from '@trestle/schema/errors';
import type { Passwords } from '../passwords.ts';
import type { UserStore } from '../user-store.ts';
import { type User, checkNewUser } from '../user.ts';

export interface AdminDependencies {
  readonly users: Pick<UserStore, 'findForLogin' | 'createAt' | 'update'>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly createId: CreateId;
}

export interface NewAdmin {
  readonly email: string;
  readonly name: string;
  /** Is asked for the password only when a new account is made. */
  readonly readPassword: () => Promise<string>;
}

/**
 * Creates an active account with the role ADMIN, in one statement, and returns it.
 * Throws VALIDATION_ERROR as `createUser` does, CONFLICT when the e-mail address is in use; then nothing has changed.
 */
export async function createAdmin(
  { users, passwords, createId }: AdminDependencies,
  { email, name, readPassword }: NewAdmin,
): Promise<User> {
  // What can be refused without the password is refused before it is typed.
  checkNewUser({ email, name, password: 'not given yet' });
  const existing = await users.findForLogin(email);
  if (existing) {
    const message = `The account ${existing.id} already has the e-mail address ${email}. With --promote it becomes an administrator and keeps its password.`;
    throw fail('CONFLICT', message);
  }
  const password = await readPassword();
  checkNewUser({ email, name, password });
  return users.createAt(createId('usr'), { email, name, password, role: 'ADMIN' }, await passwords.hash(password));
}

/** Gives an existing account the role ADMIN, activates it, and returns it; its password stays, its tokens end. Throws NOT_FOUND. */
export async function promoteToAdmin({ users }: Pick<AdminDependencies, 'users'>, email: string): Promise<User> {
  const existing = await users.findForLogin(email);
  if (!existing) throw fail('NOT_FOUND', `No account has the e-mail address ${email}. Without --promote a new one is made.`);
  if (existing.role === 'ADMIN' && existing.isActive) return existing;
  return users.update(existing.id, { role: 'ADMIN', isActive: true }, [existing.version]);
}
