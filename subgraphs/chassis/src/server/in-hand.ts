/** Requests that have no answer yet: whoever stops waits for them. */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How long they may take once the process was told to stop. */
const DRAIN_MS = 4000;

export interface InHand {
  /** A step of Express. */
  readonly count: (request: IncomingMessage, response: ServerResponse, next: () => void) => void;
  /** Resolves when those that there are now are answered, or gone, or after the time that they are given. */
  readonly settle: () => Promise<void>;
}

export function createInHand(): InHand {
  const responses = new Set<ServerResponse>();
  return {
    count(_request, response, next) {
      responses.add(response);
      response.once('close', () => responses.delete(response));
      next();
    },
    async settle() {
      const limit = new AbortController();
      const answered = [...responses].map((response) => once(response, 'close', { signal: limit.signal }));
      const timer = setTimeout(() => {
        limit.abort();
      }, DRAIN_MS);
      await Promise.allSettled(answered);
      clearTimeout(timer);
    },
  };
}
