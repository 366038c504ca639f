import { expect, it } from '@jest/globals';
import { createLoadGuard } from './overload.ts';

it('lets so many in at once, and the next one as soon as one has left', () => {
  const guard = createLoadGuard({ maxInFlight: 2, maxEventLoopDelayMs: 60_000 });
  const [first, second, third] = [guard.admit(), guard.admit(), guard.admit()];
  first.take();
  second.take();
  const overload = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
  expect(() => guard.admit()).toThrow(overload);
  expect(() => {
    third.take();
  }).toThrow(overload);
  first.leave();
  first.leave();
  expect(() => {
    third.take();
  }).not.toThrow();
  expect(() => guard.admit()).toThrow(overload);
  guard.close();
});

it('turns requests away while the event loop is late, and opens again by itself', async () => {
  const guard = createLoadGuard({ maxInFlight: 10, maxEventLoopDelayMs: 100 });
  const isOpen = () => {
    try {
      guard.admit();
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

// spec §7.3: 503 means overload, and requests whose bodies have not come are none.
it('does not count requests whose bodies have not arrived', () => {
  const guard = createLoadGuard({ maxInFlight: 1, maxEventLoopDelayMs: 60_000 });
  const waiting = Array.from({ length: 1000 }, () => guard.admit());
  expect(() => {
    guard.admit().take();
  }).not.toThrow();
  for (const slot of waiting) slot.leave();
  guard.close();
});
