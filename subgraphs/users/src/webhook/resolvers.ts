/** The GraphQL fields of webhooks and of their deliveries. */
import { connectionResolvers } from '@trestle/chassis/paging/connection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { Resolvers } from '../generated/resolvers.ts';
import {
  createWebhook,
  deleteWebhook,
  pingWebhook,
  replayWebhook,
  replayWebhookDelivery,
  rotateWebhookSecret,
  updateWebhook,
} from './mutations.ts';
import { allowManaging, parseListing, webhookVisibilityOf } from './rules.ts';

export const webhookResolvers: Resolvers = {
  Query: {
    webhook: (_, { id }, context) => {
      allowManaging(requireCaller(context));
      return context.loaders.webhook.findOrGone(id);
    },
    webhooks: (_, { filter, ...args }, context) => {
      const caller = allowManaging(requireCaller(context));
      const userId = parseListing(caller, filter?.userId);
      return context.stores.webhooks.connection(args, { visibility: webhookVisibilityOf(caller), userId, isEnabled: filter?.isEnabled });
    },
  },
  Mutation: {
    createWebhook: (_, args, context, info) => createWebhook(args, context, info),
    updateWebhook: (_, args, context) => updateWebhook(args, context),
    deleteWebhook: (_, args, context) => deleteWebhook(args, context),
    rotateWebhookSecret: (_, args, context, info) => rotateWebhookSecret(args, context, info),
    pingWebhook: (_, args, context, info) => pingWebhook(args, context, info),
    replayWebhookDelivery: (_, args, context, info) => replayWebhookDelivery(args, context, info),
    replayWebhook: (_, args, context, info) => replayWebhook(args, context, info),
  },
  Webhook: {
    user: ({ userId }, _, { loaders }) => loaders.user.need(userId),
    delivery: async ({ id }, args, { stores }) => (await stores.deliveries.findByIds([args.id], { webhookId: id }))[0] ?? null,
    deliveries: ({ id }, { filter, ...args }, { stores }) => stores.deliveries.connection(args, { ...filter, webhookId: id }),
  },
  WebhookDelivery: {
    attemptCount: ({ attempts }) => attempts,
    attempts: ({ log }) => log.map((attempt) => ({ ...attempt, startedAt: new Date(attempt.startedAt) })),
  },
  WebhookConnection: connectionResolvers,
  WebhookDeliveryConnection: connectionResolvers,
};
