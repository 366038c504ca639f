import { describe, expect, it } from '@jest/globals';
import { createDispatcher } from './dispatcher.ts';
import { createTestEvent } from './test-event.ts';
import { selectEvents } from '../outbox/event-selection.ts';

const event = (position: number, topic: string, data: Record<string, unknown>) => createTestEvent({ position, topic, data });

describe('a dispatcher', () => {
  it('dispatches an event to the subscribers whose topic and filter match', () => {
    const dispatcher = createDispatcher();
    const received: string[] = [];
    const subscribe = (name: string, topic: string, where = {}) =>
      dispatcher.subscribe(selectEvents(topic, where), {
        push: ({ position }) => received.push(`${name}${String(position)}`),
        end: () => received.push(`${name}!`),
      });
    const unsubscribe = subscribe('all', 'a');
    subscribe('one', 'a', { x: '1' });
    subscribe('both', 'a', { x: '1', y: '2' });
    subscribe('other', 'b', { x: '1' });
    dispatcher.dispatch(event(1, 'a', { x: '1' }), {});
    dispatcher.dispatch(event(2, 'a', { x: '1', y: '2' }), {});
    dispatcher.dispatch(event(3, 'a', { x: '2' }), {});
    expect(received).toEqual(['all1', 'one1', 'all2', 'one2', 'both2', 'all3']);
    expect([dispatcher.hasSubscribers(event(4, 'b', {})), dispatcher.hasSubscribers(event(4, 'b', { x: '1' }))]).toEqual([false, true]);
    unsubscribe();
    dispatcher.end(new Error());
    expect(received.slice(6)).toEqual(['one!', 'both!', 'other!']);
    expect(dispatcher.isEmpty()).toBe(true);
  });
});
