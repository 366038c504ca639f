/** The rows that events are about (spec §6): messages. */
import { type Topics, loadBySubject } from '@trestle/chassis/events/source-streams/topics';
import type { ContentStores } from './stores.ts';

export function createTopics({ messages }: Pick<ContentStores, 'messages'>): Topics {
  return { messageAdded: { types: ['message.added'], load: loadBySubject((ids) => messages.findByIds(ids)) } };
}
