/** The mutations of webhooks: rules first, then one write. Secrets are not stored in clear, so that no mutation returns one again. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { rejectFaults } from '@trestle/schema/errors';
import { type UsersContext, writeWithSecret } from '../context.ts';
import type { Delivery } from '../delivery/rules.ts';
import type { ReplayResult } from '../delivery/store.ts';
import type {
  MutationCreateWebhookArgs,
  MutationDeleteWebhookArgs,
  MutationPingWebhookArgs,
  MutationReplayWebhookArgs,
  MutationReplayWebhookDeliveryArgs,
  MutationRotateWebhookSecretArgs,
  MutationUpdateWebhookArgs,
} from '../generated/resolvers.ts';
import { checkTypes } from '../journal/rules.ts';
import {
  type CreatedWebhook,
  type Webhook,
  allowManaging,
  parseNewWebhook,
  parseOverlap,
  parseWebhookChange,
  requireEnabled,
} from './rules.ts';

/** The most events that one replay sends again. */
const MAX_REPLAYED = 1000;

/** Throws UNAUTHORIZED, FORBIDDEN, VALIDATION_ERROR, BUSINESS_RULE_VIOLATION, or CONFLICT for a repetition. */
export async function createWebhook(
  args: MutationCreateWebhookArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<CreatedWebhook> {
  const caller = allowManaging(requireCaller(context));
  const input = parseNewWebhook(caller, args.input, context.webhooks.addressRule);
  const id = context.createId('whk');
  const { secret, encrypted } = context.webhooks.secrets.create(id);
  const webhook = await writeWithSecret(context, { args, info }, ({ webhooks }) => webhooks.create({ ...input, id, encrypted }));
  return { secret, webhook };
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, VALIDATION_ERROR or PRECONDITION_FAILED. */
export async function updateWebhook({ id, input, expectedVersions }: MutationUpdateWebhookArgs, context: UsersContext): Promise<Webhook> {
  await need(id, context);
  const change = parseWebhookChange(input, context.webhooks.addressRule);
  return context.stores.webhooks.update(id, change, { expectedVersions });
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND or PRECONDITION_FAILED. */
export async function deleteWebhook({ id, expectedVersions }: MutationDeleteWebhookArgs, context: UsersContext): Promise<true> {
  allowManaging(requireCaller(context));
  await context.loaders.webhook.needToDelete(id);
  return context.stores.webhooks.delete(id, expectedVersions);
}

/** Throws what `updateWebhook` throws, or CONFLICT for a repetition: another rotation would end the secret that receivers still use. */
export async function rotateWebhookSecret(
  args: MutationRotateWebhookSecretArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<CreatedWebhook> {
  const { id, input, expectedVersions } = args;
  await need(id, context);
  const overlapMs = parseOverlap(input);
  const { secret, encrypted } = context.webhooks.secrets.create(id);
  const rotation = { id, encrypted, overlapMs, expectedVersions };
  const webhook = await writeWithSecret(context, { args, info }, ({ webhooks }) => webhooks.rotate(rotation));
  return { secret, webhook };
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE or BUSINESS_RULE_VIOLATION. */
export async function pingWebhook({ id }: MutationPingWebhookArgs, context: UsersContext): Promise<Delivery> {
  requireEnabled(await need(id, context));
  const delivery = await context.stores.deliveries.ping(id);
  context.webhooks.wake();
  return delivery;
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE or BUSINESS_RULE_VIOLATION. */
export async function replayWebhookDelivery(
  { id, deliveryId }: MutationReplayWebhookDeliveryArgs,
  context: UsersContext,
): Promise<Delivery> {
  requireEnabled(await need(id, context));
  const delivery = await context.stores.deliveries.replay(id, deliveryId);
  if (!delivery) throw notFound('delivery', deliveryId);
  context.webhooks.wake();
  return delivery;
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, VALIDATION_ERROR or BUSINESS_RULE_VIOLATION. */
export async function replayWebhook({ id, input }: MutationReplayWebhookArgs, context: UsersContext): Promise<ReplayResult> {
  const { since, types = null } = input;
  if (types) rejectFaults(checkTypes(types, 'types'));
  requireEnabled(await need(id, context));
  const replayed = await context.stores.deliveries.replaySince({ webhookId: id, since, types, limit: MAX_REPLAYED });
  context.webhooks.wake();
  return replayed;
}

function need(id: string, context: UsersContext): Promise<Webhook> {
  allowManaging(requireCaller(context));
  return context.loaders.webhook.need(id);
}
