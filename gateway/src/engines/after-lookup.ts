/** Goes on after a look-up that answers at once or later. No I/O. */
import type { Measure } from '../request/context.ts';

export interface AfterLookup {
  /** Calls back once, at once or later. */
  readonly lookUp: (done: () => void) => void;
  readonly measure: Measure;
  /** The client whose time it is. */
  readonly client: string | undefined;
}

/** Calls `act` once, when the look-up has called back. What comes later is measured as time of the client. */
export function afterLookup({ lookUp, measure, client }: AfterLookup, act: () => void): void {
  let isLater = false;
  lookUp(() => {
    if (isLater) measure(client, act);
    else act();
  });
  isLater = true;
}
