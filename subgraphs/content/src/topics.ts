/** The messages that events tell of (spec §6). */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import type { ContentStores } from './content-store.ts';

export function createTopics({ messages }: Pick<ContentStores, 'messages'>): Topics {
  return { messageAdded: loadByEntityId(messages.findByIds) };
}
