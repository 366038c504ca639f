/** An event for tests. */
import type { TopicEvent } from './dispatcher.ts';

/** Creates an event of the topic `made` with the given attributes. */
export function createTestEvent(attributes: Partial<TopicEvent> = {}): TopicEvent {
  const { position = 1 } = attributes;
  const id = `evt_${String(position).padStart(26, '0')}`;
  const who = { subject: 'a', ownerId: null, audience: 'PUBLIC' } as const;
  return { position, id, type: 'thing.made', topic: 'made', ...who, data: {}, createdAt: new Date(0), ...attributes };
}
