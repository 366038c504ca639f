/** Lets a subgraph alone that does not answer, so that its clients learn it at once and it has room to come back. No I/O. */

export interface CircuitBreaker {
  /** Whether a request may be sent now. One that may has to be reported by `succeed` or `fail`. */
  allow(): boolean;
  succeed(): void;
  fail(): void;
}

export interface CircuitBreakerOptions {
  /** Milliseconds on a clock that only goes forward. */
  readonly now?: () => number;
}

/** So many failures, none of them older than the window and no success in between, open the circuit. */
const FAILURES = 10;
const WINDOW_MS = 10_000;
/** Then nothing is sent for so long, and after that one request at a time, until one succeeds. */
const OPEN_MS = 500;

type State =
  { readonly phase: 'closed'; readonly failures: number; readonly since: number } | { readonly phase: 'open'; readonly until: number };

export function createCircuitBreaker({ now = () => performance.now() }: CircuitBreakerOptions = {}): CircuitBreaker {
  const closed: State = { phase: 'closed', failures: 0, since: 0 };
  let state: State = closed;
  return {
    allow() {
      if (state.phase === 'closed') return true;
      if (now() < state.until) return false;
      // The one that goes ahead; those after it wait for what comes of it.
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
      else if (state.failures + 1 >= FAILURES) state = { phase: 'open', until: at + OPEN_MS };
      else state = { ...state, failures: state.failures + 1 };
    },
  };
}
