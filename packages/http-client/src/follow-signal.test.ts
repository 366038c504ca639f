import { getEventListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { followSignal } from './follow-signal.ts';

describe('followSignal', () => {
  it('aborts with the reason of the other signal, also when that was aborted before', () => {
    const parent = new AbortController();
    const before = followSignal(parent.signal);
    parent.abort('stopped');
    const after = followSignal(parent.signal);
    expect([before, after].map(({ signal }) => signal.reason as unknown)).toEqual(['stopped', 'stopped']);
  });

  it('aborts with a TimeoutError after the time limit, unless it has ended', async () => {
    const parent = new AbortController();
    const [ended, waiting] = [followSignal(parent.signal, 10), followSignal(parent.signal, 10)];
    ended.end();
    await delay(50);
    expect(ended.signal.aborted).toBe(false);
    expect(waiting.signal.reason).toMatchObject({ name: 'TimeoutError' });
    expect(parent.signal.aborted).toBe(false);
  });

  it('aborts alone, and leaves no listener on the other signal after 1,000 uses', () => {
    const parent = new AbortController();
    for (let use = 0; use < 1000; use++) {
      const { signal, abort, end } = followSignal(parent.signal, 60_000);
      if (use % 2 === 0) abort();
      expect(signal.aborted).toBe(use % 2 === 0);
      end();
    }
    expect(getEventListeners(parent.signal, 'abort')).toEqual([]);
    expect(parent.signal.aborted).toBe(false);
  });
});
