/** The mutations of passkeys: registration and removal. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import { checkString } from '@trestle/chassis/values/strings';
import { fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import type { UsersContext } from '../context.ts';
import type { MutationAddPasskeyArgs, MutationRemovePasskeyArgs, MutationStartPasskeyArgs } from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';
import { confirmCaller, finishRemoval, giveRecoveryCodes, lockConfirmed } from './mutations.ts';
import { MAX_PASSKEYS } from './passkey-store.ts';
import { type Passkeys, readChallenge } from './passkeys.ts';

/** Returns what a browser is asked for. Throws what `confirmPassword` rejects with, and BUSINESS_RULE_VIOLATION without a public origin. */
export async function startPasskey({ currentPassword }: MutationStartPasskeyArgs, context: UsersContext): Promise<{ options: object }> {
  const passkeys = needPasskeys(context);
  const { userId } = await confirmCaller(context, currentPassword);
  const user = await context.loaders.user.need(userId);
  const challenge = await context.stores.challenges.begin(user, 'passkey');
  return { options: await passkeys.toCreationOptions(user, challenge, await context.stores.passkeys.list(userId)) };
}

/**
 * Adds the passkey that a browser has made for the options of `startPasskey`. Returns recovery codes, unless the account has some. Throws
 * VALIDATION_ERROR, and BUSINESS_RULE_VIOLATION when the account has too many passkeys, or when the passkey is known already.
 */
export async function addPasskey({ name, response }: MutationAddPasskeyArgs, context: UsersContext): Promise<string[]> {
  const passkeys = needPasskeys(context);
  const { userId } = requireCaller(context);
  rejectFaults(checkString(name, { field: 'name', ...lengthOf('Mutation.addPasskey(name:)') }));
  const challenge = readChallenge(response) ?? '';
  const begun = await context.stores.challenges.find(challenge, 'passkey');
  const passkey = begun?.userId === userId ? await passkeys.verifyCreation(challenge, response) : null;
  if (!passkey) throw invalidResponse();
  return context.transact(async (stores) => {
    await stores.secondFactors.lockAccount(userId);
    if (!(await stores.challenges.consume(challenge))) throw invalidResponse();
    if (!(await stores.passkeys.add(userId, name, passkey)))
      throw fail('BUSINESS_RULE_VIOLATION', `The passkey is known already, or the account has ${String(MAX_PASSKEYS)} passkeys.`);
    await stores.securityEvents.record({ type: 'SECOND_FACTOR_ENABLED', userId, detail: 'passkey', client: toSessionClient(context) });
    return giveRecoveryCodes(context, stores, userId);
  });
}

/** Removes a passkey of the caller. Throws what `confirmPassword` rejects with, and NOT_FOUND. */
export async function removePasskey({ id, currentPassword }: MutationRemovePasskeyArgs, context: UsersContext): Promise<true> {
  const confirmed = await confirmCaller(context, currentPassword);
  const { userId } = confirmed;
  await context.transact(async (stores) => {
    await lockConfirmed(stores, confirmed);
    if (!(await stores.passkeys.remove(userId, id))) throw notFound('passkey', id);
    await finishRemoval(stores, { userId, detail: 'passkey' }, context);
  });
  return true;
}

function needPasskeys({ passkeys }: UsersContext): Passkeys {
  if (passkeys) return passkeys;
  throw fail(
    'BUSINESS_RULE_VIOLATION',
    'This server has no public address, which passkeys are bound to. Its operator must set OAUTH_ISSUER.',
  );
}

function invalidResponse(): Error {
  const message = 'is not what a browser returns for the options of `startPasskey`, or they have expired or were used before';
  return fail('VALIDATION_ERROR', 'The request is not valid', { details: [{ field: 'response', message }] });
}
