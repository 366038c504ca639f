/** Reports messages of other clients in the streams of events, which consumers pass over. */
import type { JsMsg } from '@nats-io/jetstream';
import type { Log } from '@trestle/log';
import { type Registry, Counter } from 'prom-client';

/** Is called with the source whose stream it is, and with the messages that one read has passed over. */
export type ForeignMessages = (source: string, messages: readonly [ForeignMessage, ...ForeignMessage[]]) => void;

type ForeignMessage = Pick<JsMsg, 'seq' | 'subject'>;

/** What messages are reported to. */
export interface ForeignMessagesOptions {
  readonly log: Log;
  readonly metrics: Registry;
}

/** Creates the report: one line in the log for each read, however many messages it has passed over, and `trestle_events_foreign_messages_total`. */
export function createForeignMessages({ log, metrics }: ForeignMessagesOptions): ForeignMessages {
  const counter = new Counter({
    name: 'trestle_events_foreign_messages_total',
    help: 'Messages in the streams of NATS that no publisher of the source has written. Consumers pass them over.',
    labelNames: ['source'],
    registers: [metrics],
  });
  return (source, messages) => {
    counter.inc({ source }, messages.length);
    const { seq, subject } = messages[0];
    log.warn(
      `messages of other clients in the stream of ${source} are passed over, from sequence ${String(seq)} of ${subject.slice(0, 100)}`,
      { count: messages.length },
    );
  };
}
