/** Stops sending fetches to a subgraph that fails, so that its clients get an error at once and it can recover. No I/O. */

export interface CircuitBreaker {
  /** Returns whether a request may be sent now. The result of a request that may must be reported by `succeed` or `fail`. */
  allow(): boolean;
  succeed(): void;
  fail(): void;
}

export interface CircuitBreakerOptions {
  /** A monotonic clock in milliseconds. Default: `performance.now`. */
  readonly now?: () => number;
}

/** This many failures within the window, without a success in between, open the circuit. */
const MAX_FAILURES = 10;
const WINDOW_MS = 10_000;
/** An open circuit allows no request for this long, then one request at a time until one succeeds. */
const OPEN_MS = 500;

type State =
  { readonly phase: 'closed'; readonly failures: number; readonly since: number } | { readonly phase: 'open'; readonly until: number };

/** Creates a breaker whose circuit is closed: it allows every request. */
export function createCircuitBreaker({ now = () => performance.now() }: CircuitBreakerOptions = {}): CircuitBreaker {
  const closed: State = { phase: 'closed', failures: 0, since: 0 };
  let state: State = closed;
  return {
    allow() {
      if (state.phase === 'closed') return true;
      if (now() < state.until) return false;
      // Others wait for the outcome of this request.
      state = { phase: 'open', until: now() + OPEN_MS };
      return true;
    },
    succeed() {
      state = closed;
    },
    fail() {
      const at = now();
      if (state.phase === 'open') state = { phase: 'open', until: at + OPEN_MS };
      else if (state.failures === 0 || at - state.since > WINDOW_MS) state = { phase: 'closed', failures: 1, since: at };
      else if (state.failures + 1 >= MAX_FAILURES) state = { phase: 'open', until: at + OPEN_MS };
      else state = { ...state, failures: state.failures + 1 };
    },
  };
}
