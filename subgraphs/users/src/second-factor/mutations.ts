/** The mutations of second factors: enrolment, recovery codes, removal. Each but the confirmation needs the current password. */
import { requireCaller } from '@trestle/chassis/request/context';
import { fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import type { MutationConfirmTotpArgs, MutationStartTotpArgs } from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';
import type { UsersStores } from '../stores.ts';
import { hasSecondFactor } from './second-factors.ts';
import type { TotpEnrolment } from './totp.ts';

/** Makes a secret for an authenticator app. Throws what `confirmPassword` rejects with, and BUSINESS_RULE_VIOLATION when there is one. */
export async function startTotp({ currentPassword }: MutationStartTotpArgs, context: UsersContext): Promise<TotpEnrolment> {
  const { userId } = await confirmCaller(context, currentPassword);
  const user = await context.loaders.user.need(userId);
  const { encrypted, ...enrolment } = context.totp.create(user);
  if (!(await context.stores.secondFactors.beginTotp(userId, encrypted)))
    throw fail('BUSINESS_RULE_VIOLATION', 'The account has an authenticator app already. Remove it first.');
  return enrolment;
}

/** Confirms the secret by a first code. Returns recovery codes, unless the account has some. Throws VALIDATION_ERROR or RATE_LIMIT_EXCEEDED. */
export async function confirmTotp({ code }: MutationConfirmTotpArgs, context: UsersContext): Promise<string[]> {
  const { userId } = requireCaller(context);
  const client = toSessionClient(context);
  const row = await context.stores.secondFactors.findTotp(userId);
  if (!row || row.confirmedAt)
    throw fail('BUSINESS_RULE_VIOLATION', 'The account has no authenticator app that waits for its confirmation.');
  const codes = await context.attempts.run({ kind: 'code', subject: userId, userId, client }, () =>
    context.transact(async (stores) => {
      await stores.secondFactors.lockAccount(userId);
      const step = context.totp.findStep(code, row);
      if (step === null || !(await stores.secondFactors.useTotp(row, step))) return null;
      await stores.securityEvents.record({ type: 'SECOND_FACTOR_ENABLED', userId, detail: 'totp', client });
      return giveRecoveryCodes(context, stores, userId);
    }),
  );
  if (codes === null)
    throw fail('VALIDATION_ERROR', 'The request is not valid', { details: [{ field: 'code', message: 'is wrong or was used before' }] });
  return codes;
}

/** Replaces the recovery codes. Throws what `confirmPassword` rejects with, and BUSINESS_RULE_VIOLATION without a second factor. */
export async function createRecoveryCodes({ currentPassword }: MutationStartTotpArgs, context: UsersContext): Promise<string[]> {
  const confirmed = await confirmCaller(context, currentPassword);
  const { userId } = confirmed;
  return context.transact(async (stores) => {
    await lockConfirmed(stores, confirmed);
    if (!hasSecondFactor(await stores.secondFactors.status(userId)))
      throw fail('BUSINESS_RULE_VIOLATION', 'The account has no second factor that recovery codes could replace.');
    await stores.secondFactors.replaceRecoveryCodes(userId, []);
    await stores.securityEvents.record({ type: 'RECOVERY_CODES_REPLACED', userId, client: toSessionClient(context) });
    return giveRecoveryCodes(context, stores, userId);
  });
}

/** Removes the authenticator app. Throws what `confirmPassword` rejects with, and NOT_FOUND. */
export async function removeTotp({ currentPassword }: MutationStartTotpArgs, context: UsersContext): Promise<true> {
  const confirmed = await confirmCaller(context, currentPassword);
  const { userId } = confirmed;
  await context.transact(async (stores) => {
    await lockConfirmed(stores, confirmed);
    if (!(await stores.secondFactors.removeTotp(userId))) throw fail('NOT_FOUND', 'The account has no authenticator app.');
    await finishRemoval(stores, { userId, detail: 'totp' }, context);
  });
  return true;
}

/** A caller that has sent its password. */
export interface ConfirmedCaller {
  readonly userId: string;
  /** The hash that the password has matched. */
  readonly passwordHash: string;
}

/** Checks the password of the caller. */
export async function confirmCaller(context: UsersContext, password: string): Promise<ConfirmedCaller> {
  const { userId } = requireCaller(context);
  return { userId, passwordHash: await context.confirmPassword({ userId, password }, toSessionClient(context)) };
}

/** Locks the account of a caller. Throws CONFLICT when its password was changed since it was checked. */
export async function lockConfirmed(
  { secondFactors }: Pick<UsersStores, 'secondFactors'>,
  { userId, passwordHash }: ConfirmedCaller,
): Promise<void> {
  if (await secondFactors.lockAccount(userId, passwordHash)) return;
  throw fail('CONFLICT', 'The password was changed by another request at the same time. Log in again.');
}

/** Recovery codes alone protect nothing: they go with the last factor. The transaction has locked the account. */
export async function finishRemoval(
  { secondFactors, securityEvents }: UsersStores,
  { userId, detail }: { readonly userId: string; readonly detail: string },
  context: UsersContext,
): Promise<void> {
  if (!hasSecondFactor(await secondFactors.status(userId))) await secondFactors.replaceRecoveryCodes(userId, []);
  await securityEvents.record({ type: 'SECOND_FACTOR_DISABLED', userId, detail, client: toSessionClient(context) });
}

/** Gives an account, which the transaction has locked, recovery codes unless it has some; returns those that are new. */
export async function giveRecoveryCodes(
  { recoveryCodes }: Pick<UsersContext, 'recoveryCodes'>,
  { secondFactors }: Pick<UsersStores, 'secondFactors'>,
  userId: string,
): Promise<string[]> {
  if ((await secondFactors.status(userId)).recoveryCodesLeft > 0) return [];
  const codes = recoveryCodes.create();
  await secondFactors.replaceRecoveryCodes(
    userId,
    codes.map((code) => recoveryCodes.hash(userId, code)),
  );
  return codes;
}
