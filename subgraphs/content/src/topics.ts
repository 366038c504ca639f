/** The rows that events are about (spec §6): messages. */
import { type Topics, loadByEntityId } from '@trestle/chassis/events/events';
import type { ContentStores } from './stores.ts';

export function createTopics({ messages }: Pick<ContentStores, 'messages'>): Topics {
  return { messageAdded: loadByEntityId((ids) => messages.findByIds(ids)) };
}
