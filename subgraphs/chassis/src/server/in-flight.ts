/** Counts the HTTP requests in flight, so that a process that stops can wait for their responses. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long they may take while the process stops. */
const DRAIN_MS = 4000;

/** The requests in flight of a process. */
export interface InFlight {
  /** A middleware of Express. */
  readonly count: (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  /** Resolves when the current requests have their responses or lost their connections, or after `DRAIN_MS`. */
  readonly settle: () => Promise<void>;
}

/** Creates the counter. */
export function createInFlight(): InFlight {
  const responses = new Set<ServerResponse>();
  return {
    count(_request, response, next) {
      responses.add(response);
      response.once('close', () => responses.delete(response));
      next();
    },
    async settle() {
      const limit = new AbortController();
      const closed = [...responses].map((response) => once(response, 'close', { signal: limit.signal }));
      const timer = setTimeout(() => {
        limit.abort();
      }, DRAIN_MS);
      await Promise.allSettled(closed);
      clearTimeout(timer);
    },
  };
}
