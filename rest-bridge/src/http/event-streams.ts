/** The open event streams of this process: their limits, and their end when the process stops. */
import { type Fault, fail } from '@trestle/schema/errors';
import { toLimitFault } from '@trestle/schema/limit-fault';

const MAX_STREAMS = 5000;
/** A browser opens one for each page; a caller with more streams than this does something wrong. */
const MAX_STREAMS_OF_CALLER = 10;
const RETRY_AFTER_SECONDS = 1;

/** Opens event streams. */
export interface EventStreams {
  /**
   * Counts a stream of a caller until `close` is called. `signal` is aborted when the process stops. Throws RATE_LIMIT_EXCEEDED when the caller
   * has too many, and SERVICE_UNAVAILABLE when the process has, or is stopping.
   */
  open(callerId: string): { readonly signal: AbortSignal; readonly close: () => void };
  /** Ends all streams, and refuses new ones. */
  stop(): void;
}

/** Creates the streams of a process. */
export function createEventStreams(): EventStreams {
  const stopping = new AbortController();
  const byCaller = new Map<string, number>();
  let open = 0;
  return {
    open(callerId) {
      const own = byCaller.get(callerId) ?? 0;
      if (stopping.signal.aborted || open >= MAX_STREAMS) throw unavailable();
      if (own >= MAX_STREAMS_OF_CALLER) throw tooMany();
      open++;
      byCaller.set(callerId, own + 1);
      const end = new AbortController();
      const stop = () => {
        end.abort();
      };
      stopping.signal.addEventListener('abort', stop);
      let isClosed = false;
      return {
        signal: end.signal,
        close() {
          if (isClosed) return;
          isClosed = true;
          stopping.signal.removeEventListener('abort', stop);
          open--;
          const left = (byCaller.get(callerId) ?? 1) - 1;
          if (left > 0) byCaller.set(callerId, left);
          else byCaller.delete(callerId);
          end.abort();
        },
      };
    },
    stop() {
      stopping.abort();
    },
  };
}

function tooMany(): Fault {
  const message = `The account has ${String(MAX_STREAMS_OF_CALLER)} open event streams, which is the limit.`;
  return toLimitFault(message, { limit: MAX_STREAMS_OF_CALLER, retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function unavailable(): Fault {
  return fail('SERVICE_UNAVAILABLE', 'No more event streams can be opened now. Retry after 1 second.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
