/** The subscriptions to messages, for callers who are logged in (spec §6, contract §3). */
import { type EventSelection, selectEvents } from '@trestle/chassis/events/outbox/event-selection';
import { requireCaller } from '@trestle/chassis/request/context';
import type { ContentContext } from '../context.ts';
import type { SubscriptionMessageAddedArgs } from '../generated/resolvers.ts';
import type { Message } from './rules.ts';

/** Selects the new messages of a channel. Throws UNAUTHORIZED, NOT_FOUND or GONE. */
export async function subscribeToMessages(
  { channelId }: SubscriptionMessageAddedArgs,
  context: ContentContext,
): Promise<EventSelection<'messageAdded', Message>> {
  requireCaller(context);
  await context.loaders.channel.need(channelId);
  return selectEvents('messageAdded', { channelId });
}
