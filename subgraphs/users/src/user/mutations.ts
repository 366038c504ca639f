/** The mutations of accounts (spec §4.5, contract §3): rules first, then one write. */
import { requireCaller } from '@trestle/chassis/request/context';
import type { ExpectedVersions } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { Fault, fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import type {
  MutationCreateUserArgs,
  MutationDeleteUserArgs,
  MutationReplaceUserArgs,
  MutationUpdateUserArgs,
} from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';
import { isCompared, isSecurityChange, toCreationEvent, toSecurityEvents } from './security-changes.ts';
import { withStoredEmail } from './email-address.ts';
import {
  type User,
  type UserChange,
  type UserInput,
  allowChange,
  allowDelete,
  allowNewAt,
  checkNewUser,
  needPassword,
  parseNewAt,
  parseReplacement,
  parseUserChange,
} from './rules.ts';

/** Throws VALIDATION_ERROR or CONFLICT. */
export async function createUser(args: MutationCreateUserArgs, context: UsersContext, info: MutationCall['info']): Promise<User> {
  const input = withStoredEmail(args.input);
  checkNewUser(input);
  const hash = await context.passwords.hash(input.password);
  // The result that is stored for a retry does not contain the hash, since the store never returns it.
  const user = await context.write({ args, info }, ({ users }) => users.create(input, hash));
  return { ...user, isProven: true };
}

/** Throws UNAUTHORIZED, NOT_FOUND, GONE, FORBIDDEN, VALIDATION_ERROR, PRECONDITION_FAILED or CONFLICT. */
export async function updateUser({ id, input, expectedVersions }: MutationUpdateUserArgs, context: UsersContext): Promise<User> {
  requireCaller(context);
  const user = await context.loaders.user.need(id);
  const stored = withStoredEmail(input);
  return changeUser(context, user, { input: stored, change: parseUserChange(stored), expectedVersions });
}

/** Replaces an account, or creates it at this id. Throws what `updateUser` throws. */
export async function replaceUser(args: MutationReplaceUserArgs, context: UsersContext): Promise<User> {
  const { id, expectedVersions } = args;
  const input = withStoredEmail(args.input);
  const caller = requireCaller(context);
  const user = await context.loaders.user.findOrGone(id);
  if (user) return changeUser(context, user, { input, change: parseReplacement(input), expectedVersions });
  allowNewAt(caller, id);
  const created = parseNewAt(input);
  if (expectedVersions && !expectedVersions.includes(0))
    throw fail('PRECONDITION_FAILED', `Account ${id} does not exist, but the request expects a version of it.`);
  const hash = await context.passwords.hash(created.password);
  const source = { caller, client: toSessionClient(context) };
  const creation = context.transact(async ({ users, securityEvents }) => {
    const account = await users.createAt(id, created, hash);
    await securityEvents.record(toCreationEvent(account, source));
    return account;
  });
  return creation.catch((error: unknown) => {
    // A concurrent request was first: a request without a precondition has failed none.
    const isConflict = error instanceof Fault && error.code === 'PRECONDITION_FAILED' && !expectedVersions;
    throw isConflict ? fail('CONFLICT', `Account ${id} was created by another request at the same time. Retry the request.`) : error;
  });
}

/** Throws UNAUTHORIZED, NOT_FOUND, FORBIDDEN or PRECONDITION_FAILED. */
export async function deleteUser({ id, expectedVersions }: MutationDeleteUserArgs, context: UsersContext): Promise<true> {
  const caller = requireCaller(context);
  await context.loaders.user.needToDelete(id);
  allowDelete(caller, id);
  const generation = await context.transact(async ({ users, securityEvents }) => {
    const deleted = await users.delete(id, expectedVersions);
    const actorId = caller.userId === id ? null : caller.userId;
    await securityEvents.record({ type: 'ACCOUNT_DELETED', userId: id, actorId, client: toSessionClient(context) });
    return deleted;
  });
  await context.revoke({ userId: id, generation });
  return true;
}

/** Throws VALIDATION_ERROR, FORBIDDEN or RATE_LIMIT_EXCEEDED unless the caller has proved itself for a change that needs that. */
async function confirmFor(context: UsersContext, user: User, input: UserInput): Promise<void> {
  const password = needPassword(requireCaller(context), user, input);
  if (password !== undefined) await context.confirmPassword({ userId: user.id, password }, toSessionClient(context));
}

interface ChangeRequest {
  readonly input: UserInput;
  readonly change: UserChange;
  readonly expectedVersions: ExpectedVersions;
}

/** How often a change is decided again, because another request has changed the account since it was read: of as many at once each succeeds. */
const MAX_RETRIES = 30;

/**
 * Decides whether the caller may make a change, and makes it. When another request is first, a request without a precondition is decided again, by
 * the account as it is then. Throws CONFLICT when that happens too often.
 */
async function changeUser(context: UsersContext, user: User, request: ChangeRequest): Promise<User> {
  let current: User | undefined = user;
  for (let retries = 0; current && retries <= MAX_RETRIES; retries++) {
    const change = allowChange(requireCaller(context), current, request.change);
    await confirmFor(context, current, request.input);
    const changed = await writeChange(context, { ...request, user: current, change });
    if (changed) return revokeTokens(context, current, changed);
    [current] = await context.stores.users.findByIds([user.id]);
  }
  throw fail('CONFLICT', `Account ${user.id} was changed by other requests at the same time. Retry the request.`);
}

interface AccountChange {
  readonly user: User;
  readonly change: UserChange;
  readonly expectedVersions: ExpectedVersions;
}

/**
 * Writes a change. One of the fields that rules and audit trail compare with the account that was read is written to that version only:
 * a request that sends back a former address or role must not restore it unnoticed. Resolves with undefined when a request without a precondition
 * finds another version.
 */
async function writeChange(context: UsersContext, { user, change, expectedVersions }: AccountChange): Promise<User | undefined> {
  if (!isCompared(change)) return context.stores.users.update(user.id, change, { expectedVersions });
  const judged = expectedVersions?.filter((version) => version === user.version) ?? [user.version];
  return writeJudged(context, { user, change, expectedVersions: judged }).catch((error: unknown) => {
    if (error instanceof Fault && error.code === 'PRECONDITION_FAILED' && !expectedVersions) return undefined;
    throw error;
  });
}

/** Writes a change of the version that was read, with its security events in the same transaction. */
function writeJudged(context: UsersContext, { user, change, expectedVersions }: AccountChange): Promise<User> {
  if (!isSecurityChange(user, change)) return context.stores.users.update(user.id, change, { expectedVersions });
  const source = { caller: requireCaller(context), client: toSessionClient(context) };
  const { userId, sessionId } = source.caller;
  return context.transact(async ({ users, sessions, securityEvents }) => {
    if (userId === user.id && sessionId !== null) await sessions.keepDuringTransaction(sessionId);
    const changed = await users.update(user.id, change, { expectedVersions });
    for (const event of toSecurityEvents(user, changed, source)) await securityEvents.record(event);
    return changed;
  });
}

/** Publishes that a change of what tokens contain has revoked them (ADR 10). */
async function revokeTokens({ revoke }: Pick<UsersContext, 'revoke'>, { tokenGeneration }: User, changed: User): Promise<User> {
  if (changed.tokenGeneration !== tokenGeneration) await revoke({ userId: changed.id, generation: changed.tokenGeneration });
  return changed;
}
