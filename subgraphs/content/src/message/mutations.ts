/** The mutations of messages: rules first, then one write. Errors come in the same order as for posts. */
import { requireCaller } from '@trestle/chassis/request/context';
import { notFound } from '@trestle/chassis/request/faults';
import type { MutationCall } from '@trestle/chassis/stores/idempotency';
import { hasPrefix } from '@trestle/chassis/values/ids';
import type { ContentContext } from '../context.ts';
import type { MutationCreateMessageArgs, MutationDeleteMessageArgs, MutationUpdateMessageArgs } from '../generated/resolvers.ts';
import { type Message, allowMessageChange, parseMessageBody } from './rules.ts';

export async function createMessage(
  args: MutationCreateMessageArgs,
  context: ContentContext,
  info: MutationCall['info'],
): Promise<Message> {
  const { userId: authorId } = requireCaller(context);
  const { channelId } = args.input;
  return context.write({ args, info }, async ({ channels, messages }) => {
    const [channel] = hasPrefix('chn')(channelId) ? await channels.findByIds([channelId]) : [];
    if (!channel) throw notFound('channel', channelId);
    return messages.create({ channelId, authorId, ...parseMessageBody(args.input) });
  });
}

export async function updateMessage({ id, input, expectedVersions }: MutationUpdateMessageArgs, context: ContentContext): Promise<Message> {
  const caller = requireCaller(context);
  allowMessageChange(caller, await context.loaders.message.need(id));
  return context.stores.messages.update(id, parseMessageBody(input), { expectedVersions });
}

export async function deleteMessage({ id, expectedVersions }: MutationDeleteMessageArgs, context: ContentContext): Promise<true> {
  const caller = requireCaller(context);
  allowMessageChange(caller, await context.loaders.message.needToDelete(id));
  return context.stores.messages.delete(id, expectedVersions);
}
