/** The mutations of API keys: rules first, then one transaction. Secrets are not stored, so that no mutation returns one again. */
import { requireCaller } from '@trestle/chassis/request/context';
import { rejectWith } from '@trestle/chassis/stores/after-check';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import type { Caller } from '@trestle/identity';
import { createApiKey as createKey, hashApiKey, lastFourOf } from '@trestle/identity/credentials/api-keys';
import { type UsersContext, writeWithSecret } from '../context.ts';
import type {
  MutationCreateApiKeyArgs,
  MutationRevokeApiKeyArgs,
  MutationRotateApiKeyArgs,
  MutationUpdateApiKeyArgs,
} from '../generated/resolvers.ts';
import { toSessionClient } from '../session/client.ts';
import {
  type ApiKey,
  type CreatedApiKey,
  HOUR_MS,
  allowManaging,
  allowOwnKey,
  parseApiKeyChange,
  parseNewApiKey,
  parseOverlap,
  toSuccessor,
} from './rules.ts';
import type { HashedKey } from './store.ts';

/** Throws UNAUTHORIZED, FORBIDDEN, VALIDATION_ERROR, BUSINESS_RULE_VIOLATION, or CONFLICT for a repetition. */
export async function createApiKey(
  args: MutationCreateApiKeyArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<CreatedApiKey> {
  const caller = allowManaging(requireCaller(context));
  const key = parseNewApiKey(caller, args.input, context.clock());
  const { secret, hashed } = generate(context);
  const apiKey = await writeWithSecret(context, { args, info }, async ({ apiKeys, securityEvents }) => {
    const created = await apiKeys.create({ ...key, ...hashed });
    await securityEvents.record({ type: 'API_KEY_CREATED', userId: key.userId, subject: created.id, client: toSessionClient(context) });
    return created;
  });
  return { secret, apiKey };
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, VALIDATION_ERROR or PRECONDITION_FAILED. */
export async function updateApiKey({ id, input, expectedVersions }: MutationUpdateApiKeyArgs, context: UsersContext): Promise<ApiKey> {
  await needOwn(context, id);
  return context.stores.apiKeys.update(id, parseApiKeyChange(input), { expectedVersions });
}

/** Throws what `updateApiKey` throws, BUSINESS_RULE_VIOLATION, or CONFLICT for a repetition, also when the first one has ended the key. */
export async function rotateApiKey(
  args: MutationRotateApiKeyArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<CreatedApiKey> {
  const { id, input, expectedVersions } = args;
  const call = { args, info };
  const { caller, key } = await needOwn(context, id).catch((error: unknown) => writeWithSecret(context, call, rejectWith(error)));
  const overlapMs = parseOverlap(input);
  const { secret, hashed } = generate(context);
  const apiKey = await writeWithSecret(context, call, async ({ apiKeys, securityEvents }) => {
    const successor = { ...toSuccessor(caller, key, context.clock()), ...hashed };
    const created = await apiKeys.rotate({ id, successor, overlapMs, expectedVersions });
    const detail = `replaced by ${created.id} after ${String(overlapMs / HOUR_MS)} h`;
    await securityEvents.record({ type: 'API_KEY_ROTATED', userId: key.userId, subject: id, detail, client: toSessionClient(context) });
    return created;
  });
  if (overlapMs === 0) await context.revoke({ userId: key.userId, sessionId: id });
  return { secret, apiKey };
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND or PRECONDITION_FAILED. */
export async function revokeApiKey({ id, expectedVersions }: MutationRevokeApiKeyArgs, context: UsersContext): Promise<true> {
  const caller = allowManaging(requireCaller(context));
  await context.loaders.apiKey.needToDelete(id);
  const userId = await context.transact(async ({ apiKeys, securityEvents }) => {
    const owner = await apiKeys.delete(id, expectedVersions);
    const actorId = caller.userId === owner ? null : caller.userId;
    await securityEvents.record({ type: 'API_KEY_REVOKED', userId: owner, actorId, subject: id, client: toSessionClient(context) });
    return owner;
  });
  await context.revoke({ userId, sessionId: id });
  return true;
}

async function needOwn(context: UsersContext, id: string): Promise<{ readonly caller: Caller; readonly key: ApiKey }> {
  const caller = allowManaging(requireCaller(context));
  const key = await context.loaders.apiKey.need(id);
  allowOwnKey(caller, key);
  return { caller, key };
}

function generate({ apiKeySecret }: Pick<UsersContext, 'apiKeySecret'>): { readonly secret: string; readonly hashed: HashedKey } {
  const secret = createKey();
  return { secret, hashed: { hash: hashApiKey(apiKeySecret, secret), lastFour: lastFourOf(secret) } };
}
