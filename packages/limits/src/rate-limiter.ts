/** Decides whether a caller may send a request: by the windows of this process, and by those in Redis when there is one (spec §8). */
import type { RedisWindows } from './redis-windows.ts';
import { type Count, type SlidingWindows, WINDOW_MS } from './sliding-windows.ts';

/** Whose requests are counted together, and how many they may be. */
export interface Subject {
  /** Such as `user:usr_1`; the same in every process. */
  readonly key: string;
  /** The plan, or `anonymous`. */
  readonly policy: string;
  /** Requests per minute. */
  readonly limit: number;
}

/** Whether units were taken, and what is left. */
export interface Decision {
  readonly isAllowed: boolean;
  readonly subject: Subject;
  readonly remaining: number;
  /** When the next units come back, in milliseconds since the epoch; after a refusal, when the request could be accepted. */
  readonly resetAtMs: number;
  /** Whole seconds until the request could be accepted; 0 when it was. */
  readonly retryAfterSeconds: number;
  /** Units that were taken, and where; for a refund. */
  readonly units: number;
  readonly slots: { readonly local: number; readonly shared: SharedSlot | undefined };
}

/** Which of the shared windows has the units. */
interface SharedSlot {
  readonly windows: SharedWindows;
  readonly slot: number;
}

/** Limits requests. */
export interface RateLimiter {
  /**
   * Takes units of a subject: all of them, or none when they exceed the limit. Units beyond the whole limit count as the limit, so that
   * no request is impossible. Returns a promise when shared windows are asked; it never rejects.
   */
  take(subject: Subject, units: number): Decision | Promise<Decision>;
  /**
   * Takes one unit as {@link take}, and does not wait for shared windows: returns what this process knows. Nothing is taken when nothing is left.
   */
  count(subject: Subject): Decision;
  /** Returns what was taken, as for a response 304. Returns the decision with what is left then. */
  refund(decision: Decision): Decision;
  /**
   * Takes a unit of a subject in this process alone, until the returned function gives it back. Returns undefined when none is left.
   */
  reserve(subject: Subject): (() => void) | undefined;
  /** Returns what is left of a subject in this process. Takes nothing. */
  look(subject: Subject): Decision;
  close(): void;
}

/** Windows that several processes share, in Redis or at a process. */
export interface SharedWindows extends Pick<RedisWindows, 'isUsed' | 'refund' | 'close'> {
  /** Takes units as `RedisWindows.take` does; returns at once what needs no other process. */
  take(key: string, limit: number, units: number): Count | Promise<Count | undefined>;
}

/** Configures a limiter. */
export interface RateLimiterOptions {
  readonly windows: SlidingWindows;
  /** Windows that processes share; none by default. Each is asked while those before it cannot be used. */
  readonly shared?: readonly SharedWindows[];
}

/**
 * Creates a limiter. This process always counts its own requests: those that it refuses are not sent to shared windows, and when none of these can be
 * used the count goes on where it was.
 */
export function createRateLimiter({ windows, shared = [] }: RateLimiterOptions): RateLimiter {
  const takeShared = (decision: Decision, from = 0): Decision | Promise<Decision> => {
    const index = shared.findIndex(({ isUsed }, i) => i >= from && isUsed);
    const others = shared[index];
    if (!others) return decision;
    const count = others.take(decision.subject.key, decision.subject.limit, decision.units);
    if (!(count instanceof Promise)) return merge(decision, count, others);
    return count.then((later) => (later ? merge(decision, later, others) : takeShared(decision, index + 1)));
  };
  const merge = ({ subject, units, slots, remaining }: Decision, count: Count, others: SharedWindows): Decision => {
    if (!count.isAllowed) windows.refund(subject.key, units, slots.local);
    const left = count.isAllowed ? remaining : remaining + units;
    const merged = { ...count, remaining: Math.min(left, count.remaining) };
    return toDecision(subject, merged, { units, slots: { local: slots.local, shared: { windows: others, slot: count.slot } } });
  };
  const takeLocal = (subject: Subject, units: number): Decision => {
    const count = windows.take(subject.key, subject.limit, units);
    return toDecision(subject, count, { units, slots: { local: count.slot, shared: undefined } });
  };
  return {
    take(subject, asked) {
      const decision = takeLocal(subject, Math.min(asked, subject.limit));
      return decision.isAllowed ? takeShared(decision) : decision;
    },
    count(subject) {
      const decision = takeLocal(subject, 1);
      if (decision.isAllowed) void takeShared(decision);
      return decision;
    },
    refund(decision) {
      const { subject, units, slots, isAllowed } = decision;
      if (!isAllowed) return decision;
      windows.refund(subject.key, units, slots.local);
      slots.shared?.windows.refund(subject.key, units, slots.shared.slot);
      return { ...decision, units: 0, remaining: Math.min(subject.limit, decision.remaining + units) };
    },
    reserve({ key, limit }) {
      const { isAllowed, slot } = windows.take(key, limit, 1);
      if (!isAllowed) return undefined;
      return () => {
        windows.refund(key, 1, slot);
      };
    },
    look: (subject) => takeLocal(subject, 0),
    close() {
      for (const each of shared) each.close();
    },
  };
}

function toDecision(subject: Subject, count: Count, { units, slots }: Pick<Decision, 'units' | 'slots'>): Decision {
  const { isAllowed, remaining, resetMs, retryMs } = count;
  return {
    isAllowed,
    subject,
    remaining,
    resetAtMs: Date.now() + Math.min(resetMs, WINDOW_MS),
    retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(retryMs / 1000)),
    units,
    slots,
  };
}
