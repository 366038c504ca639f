import { describe, expect, it } from '@jest/globals';
import { toCloudEvent } from './rules.ts';

describe('toCloudEvent', () => {
  it('has the time as lists of events and subscriptions show it, to the second (spec §2.1)', () => {
    const time = new Date('2026-01-31T12:00:00.789Z');
    const event = { id: 'evt_1', type: 'order.paid', source: 'orders', subject: 'ord_1', data: {}, time };
    expect(toCloudEvent(event)).toMatchObject({ source: '/orders', time: '2026-01-31T12:00:00Z' });
  });
});
