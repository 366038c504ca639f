/** Stops sending fetches to a subgraph that fails, so that its clients get an error at once and it can recover. No I/O. */
import { DEFAULT_TRAFFIC } from './traffic-settings.ts';

export interface CircuitBreaker {
  /** Returns whether a request may be sent now. Afterwards `succeed` or `fail` is called, unless its end says nothing about the subgraph. */
  allow(): boolean;
  succeed(): void;
  fail(): void;
}

export interface CircuitBreakerOptions {
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
  /** This many failures within 10 s, without a success in between, open the circuit; with 0 it is never open. Default 10. */
  readonly maxFailures?: number;
  /** An open circuit allows no request for this long, then one request at a time until one succeeds. Default 500. */
  readonly openMs?: number;
}

const WINDOW_MS = 10_000;
/** A breaker that allows every request. */
const NEVER_OPEN: CircuitBreaker = { allow: () => true, succeed: () => undefined, fail: () => undefined };

type State =
  { readonly phase: 'closed'; readonly failures: number; readonly since: number } | { readonly phase: 'open'; readonly until: number };

/** Creates a breaker whose circuit is closed: it allows every request. */
export function createCircuitBreaker({
  now = () => performance.now(),
  maxFailures = DEFAULT_TRAFFIC.breakerFailures,
  openMs = DEFAULT_TRAFFIC.breakerOpenMs,
}: CircuitBreakerOptions = {}): CircuitBreaker {
  if (maxFailures === 0) return NEVER_OPEN;
  const closed: State = { phase: 'closed', failures: 0, since: 0 };
  let state: State = closed;
  return {
    allow() {
      if (state.phase === 'closed') return true;
      if (now() < state.until) return false;
      // Others wait for the outcome of this request.
      state = { phase: 'open', until: now() + openMs };
      return true;
    },
    succeed() {
      state = closed;
    },
    fail() {
      const at = now();
      if (state.phase === 'open') state = { phase: 'open', until: at + openMs };
      else {
        const isFirst = state.failures === 0 || at - state.since > WINDOW_MS;
        const failures = isFirst ? 1 : state.failures + 1;
        if (failures >= maxFailures) state = { phase: 'open', until: at + openMs };
        else state = { phase: 'closed', failures, since: isFirst ? at : state.since };
      }
    },
  };
}
