import { describe, expect, it } from '@jest/globals';
import { createLoadGuard } from './overload.ts';

describe('createLoadGuard', () => {
  it('rejects requests above maxInFlight until a slot is released', () => {
    const guard = createLoadGuard({ maxInFlight: 2, maxEventLoopDelayMs: 60_000 });
    const [first, second, third] = [guard.admit(), guard.admit(), guard.admit()];
    first.acquire();
    second.acquire();
    const overload = expect.objectContaining({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 2 });
    expect(() => guard.admit()).toThrow(overload);
    expect(() => {
      third.acquire();
    }).toThrow(overload);
    first.release();
    first.release();
    expect(() => {
      third.acquire();
    }).not.toThrow();
    expect(() => guard.admit()).toThrow(overload);
    guard.close();
  });

  it('rejects requests while the event loop is delayed, and admits them again afterwards', async () => {
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
  });

  // spec §7.3: 503 means overload, and requests with incomplete bodies use no capacity.
  it('does not count requests whose bodies are incomplete', () => {
    const guard = createLoadGuard({ maxInFlight: 1, maxEventLoopDelayMs: 60_000 });
    const waiting = Array.from({ length: 1000 }, () => guard.admit());
    expect(() => {
      guard.admit().acquire();
    }).not.toThrow();
    for (const slot of waiting) slot.release();
    guard.close();
  });
});
