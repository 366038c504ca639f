/** The mutations of webhooks: rules first, then one write. Secrets are not stored in clear, so that no mutation returns one again. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import { afterCheck, rejectWith } from '@trestle/chassis/stores/after-check';
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
import type { UsersStores } from '../stores.ts';
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
  const webhook = await need(id, context);
  const change = parseWebhookChange(input, context.webhooks.addressRule, webhook);
  return context.stores.webhooks.update(id, change, { expectedVersions });
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND or PRECONDITION_FAILED. */
export async function deleteWebhook({ id, expectedVersions }: MutationDeleteWebhookArgs, context: UsersContext): Promise<true> {
  allowManaging(requireCaller(context));
  await context.loaders.webhook.needToDelete(id);
  return context.stores.webhooks.delete(id, expectedVersions);
}

/**
 * Throws what `updateWebhook` throws, or CONFLICT for a repetition, also when the webhook was deleted since: another rotation would end the secret that
 * receivers still use.
 */
export async function rotateWebhookSecret(
  args: MutationRotateWebhookSecretArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<CreatedWebhook> {
  const { id, input, expectedVersions } = args;
  const call = { args, info };
  await need(id, context).catch((error: unknown) => writeWithSecret(context, call, rejectWith(error)));
  const overlapMs = parseOverlap(input);
  const { secret, encrypted } = context.webhooks.secrets.create(id);
  const rotation = { id, encrypted, overlapMs, expectedVersions };
  const webhook = await writeWithSecret(context, call, ({ webhooks }) => webhooks.rotate(rotation));
  return { secret, webhook };
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE or BUSINESS_RULE_VIOLATION. */
export function pingWebhook(args: MutationPingWebhookArgs, context: UsersContext, info: MutationCall['info']): Promise<Delivery> {
  return deliver({ args, info }, context, ({ deliveries }) => deliveries.ping(args.id));
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE or BUSINESS_RULE_VIOLATION. */
export function replayWebhookDelivery(
  args: MutationReplayWebhookDeliveryArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<Delivery> {
  const { id, deliveryId } = args;
  return deliver({ args, info }, context, async ({ deliveries }) => {
    const delivery = await deliveries.replay(id, deliveryId);
    if (!delivery) throw notFound('delivery', deliveryId);
    return delivery;
  });
}

/** Throws UNAUTHORIZED, FORBIDDEN, NOT_FOUND, GONE, VALIDATION_ERROR or BUSINESS_RULE_VIOLATION. */
export async function replayWebhook(
  args: MutationReplayWebhookArgs,
  context: UsersContext,
  info: MutationCall['info'],
): Promise<ReplayResult> {
  const { since, types = null } = args.input;
  if (types) rejectFaults(checkTypes(types, 'types'));
  const replay = { webhookId: args.id, since, types, limit: MAX_REPLAYED };
  return deliver({ args, info }, context, ({ deliveries }) => deliveries.replaySince(replay));
}

interface WebhookCall extends MutationCall {
  readonly args: { readonly id: string };
}

/** Inserts deliveries of an enabled webhook, and has them sent now. A repetition gets the stored result, also when the webhook is disabled by now. */
async function deliver<Row>(call: WebhookCall, context: UsersContext, work: (stores: UsersStores) => Promise<Row>): Promise<Row> {
  allowManaging(requireCaller(context));
  const row = await context.write(call, await afterCheck(needEnabled(call.args.id, context), work));
  context.webhooks.wake();
  return row;
}

async function needEnabled(id: string, context: UsersContext): Promise<void> {
  requireEnabled(await context.loaders.webhook.need(id));
}

function need(id: string, context: UsersContext): Promise<Webhook> {
  allowManaging(requireCaller(context));
  return context.loaders.webhook.need(id);
}
