/** Removes the second factors of an account whose owner has lost all of them (ADR 21). */
import { fail } from '@trestle/schema/errors';
import { hasSecondFactor } from '../second-factor/second-factors.ts';
import type { Transact } from '../stores.ts';
import type { UserStore } from '../user/store.ts';

/** What the command works with. */
export interface ResetOptions {
  readonly users: Pick<UserStore, 'findByEmail'>;
  readonly transact: Transact;
}

/** An account without a second factor, and what it had. */
export interface ResetAccount {
  readonly id: string;
  /** Such as `totp, 2 passkeys`. */
  readonly removed: string;
}

const CLIENT = { address: null, device: 'npm run admin:reset-second-factor' };

/**
 * Removes everything in one transaction with its security events, ends the sessions of the account and revokes its tokens: a lost device may
 * be logged in. Throws NOT_FOUND without an account, BUSINESS_RULE_VIOLATION when it has no second factor; then nothing has changed.
 */
export async function resetSecondFactor({ users, transact }: ResetOptions, email: string): Promise<ResetAccount> {
  const user = await users.findByEmail(email);
  if (!user) throw fail('NOT_FOUND', `No account has the e-mail address ${email}.`);
  const { id: userId } = user;
  return transact(async (stores) => {
    await stores.secondFactors.lockAccount(userId);
    const status = await stores.secondFactors.status(userId);
    if (!hasSecondFactor(status)) throw fail('BUSINESS_RULE_VIOLATION', `Account ${userId} has no second factor.`);
    const passkeys = await stores.passkeys.removeAll(userId);
    const hadTotp = await stores.secondFactors.removeTotp(userId);
    await stores.secondFactors.replaceRecoveryCodes(userId, []);
    const removed = [...(hadTotp ? ['totp'] : []), ...(passkeys > 0 ? [`${String(passkeys)} passkeys`] : [])].join(', ');
    await stores.securityEvents.record({ type: 'SECOND_FACTOR_DISABLED', userId, detail: `${removed}, by an operator`, client: CLIENT });
    await stores.users.revokeAllTokens(userId);
    await stores.sessions.endAll(userId);
    await stores.securityEvents.record({ type: 'SESSIONS_ENDED', userId, client: CLIENT });
    return { id: userId, removed };
  });
}
