/** How a stream of results is written into an HTTP response that stays open. */
import type { Envelope } from './send-queue.ts';

export interface StreamFormat {
  readonly transport: 'sse' | 'multipart';
  readonly contentType: string;
  /** Sent at once, so that the client gets the head of the response. */
  readonly opening: Envelope;
  readonly result: Envelope;
  /** The envelope of a result with a position, where the format has a place for positions. */
  readonly resultAt?: (position: string) => Envelope;
  /** Sent at every interval, to keep proxies from closing an idle connection. */
  readonly heartbeat: Envelope;
  readonly heartbeatMs: number;
  /** Sent after the last result. */
  readonly ending: Envelope;
  /** The envelope of the errors that end a stream, as a JSON list. */
  readonly failure: Envelope;
  /** Whether a shutdown is sent as an error. Otherwise the client reconnects by itself. */
  readonly reportsShutdown: boolean;
}

/** The format of one operation's results. */
export type ResultFormat = Pick<StreamFormat, 'result' | 'resultAt' | 'ending' | 'failure' | 'reportsShutdown'>;

/** Returns the envelope with this text before and after the body. */
export function between(head: string, tail: string): Envelope {
  return { head: Buffer.from(head), tail: Buffer.from(tail) };
}
