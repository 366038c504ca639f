/** Creates an administrator: a new account, or an existing one that is promoted. */
import type { CreateId } from '@trestle/chassis/values/ids';
import { fail } from '@trestle/schema/errors';
import type { SecurityEventStore } from '../security/store.ts';
import type { Passwords } from '../user/passwords.ts';
import { toStoredEmail } from '../user/email-address.ts';
import { type User, checkNewUser } from '../user/rules.ts';
import { type ChangeSource, toCreationEvent, toSecurityEvents } from '../user/security-changes.ts';
import type { UserStore } from '../user/store.ts';

/** The stores that the command writes to. */
export interface AdminStores {
  readonly users: Pick<UserStore, 'createAt' | 'update'>;
  readonly securityEvents: Pick<SecurityEventStore, 'record'>;
}

export interface AdminDependencies {
  readonly users: Pick<UserStore, 'findByEmail'>;
  /** Runs several writes in one transaction. */
  readonly transact: <T>(work: (stores: AdminStores) => Promise<T>) => Promise<T>;
  readonly passwords: Pick<Passwords, 'hash'>;
  readonly createId: CreateId;
}

export interface NewAdmin {
  readonly email: string;
  readonly name: string;
  /** Called only when a new account is created. */
  readonly readPassword: () => Promise<string>;
}

const SOURCE: ChangeSource = { caller: null, client: { address: null, device: 'npm run admin:create' } };

/**
 * Creates an active account with the role ADMIN, in one transaction with its security event, and returns it.
 * Throws VALIDATION_ERROR as `createUser` does, CONFLICT when the e-mail address is in use; then nothing has changed.
 */
export async function createAdmin(
  { users, transact, passwords, createId }: AdminDependencies,
  { email: given, name, readPassword }: NewAdmin,
): Promise<User> {
  const email = toStoredEmail(given);
  // Faults of the other fields are reported before the user types a password.
  checkNewUser({ email, name, password: 'to be typed later' });
  const existing = await users.findByEmail(email);
  if (existing) {
    const message = `Account ${existing.id} already has the e-mail address ${email}. Use --promote to make it an administrator.`;
    throw fail('CONFLICT', message);
  }
  const password = await readPassword();
  checkNewUser({ email, name, password });
  const hash = await passwords.hash(password);
  return transact(async (stores) => {
    const admin = await stores.users.createAt(createId('usr'), { email, name, password, role: 'ADMIN' }, hash);
    await stores.securityEvents.record(toCreationEvent(admin, SOURCE));
    return admin;
  });
}

/** Gives an existing account the role ADMIN, activates it and revokes its tokens; its password stays. Throws NOT_FOUND. */
export async function promoteToAdmin({ users, transact }: Pick<AdminDependencies, 'users' | 'transact'>, email: string): Promise<User> {
  const existing = await users.findByEmail(email);
  if (!existing) throw fail('NOT_FOUND', `No account has the e-mail address ${email}. Omit --promote to create one.`);
  if (existing.role === 'ADMIN' && existing.isActive) return existing;
  return transact(async (stores) => {
    const admin = await stores.users.update(existing.id, { role: 'ADMIN', isActive: true }, { expectedVersions: [existing.version] });
    for (const event of toSecurityEvents(existing, admin, SOURCE)) await stores.securityEvents.record(event);
    return admin;
  });
}
