import { expect, it } from '@jest/globals';
import { createLoadGuard } from './overload.ts';

it('lets so many in at once, and the next one as soon as one has left', () => {
  const guard = createLoadGuard({ maxInFlight: 2, maxEventLoopDelayMs: 60_000 });
  const leave = guard.enter();
  guard.enter();
  expect(() => guard.enter()).toThrow(expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 }));
  leave();
  expect(() => guard.enter()).not.toThrow();
  guard.close();
});

it('turns requests away while the event loop is late, and opens again by itself', async () => {
  const guard = createLoadGuard({ maxInFlight: 10, maxEventLoopDelayMs: 100 });
  const isOpen = () => {
    try {
      guard.enter()();
      return true;
    } catch {
      return false;
    }
  };
  const block = (milliseconds: number) => {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  };
  const next = () => new Promise((resolve) => setImmediate(resolve));
  const deadline = performance.now() + 20_000;
  while (isOpen() && performance.now() < deadline) {
    block(300);
    await next();
  }
  expect(isOpen()).toBe(false);
  while (!isOpen() && performance.now() < deadline) await next();
  expect(isOpen()).toBe(true);
  guard.close();
}, 30_000);
