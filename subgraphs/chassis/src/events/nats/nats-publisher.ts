/** Publishes a subgraph's outbox to JetStream: every event once and in order, whatever ends this process or the bus (ADR 24). */
import type { PubAck } from '@nats-io/jetstream';
import type { Log } from '@trestle/log';
import { Fault } from '@trestle/schema/errors';
import { toCloudEvent } from './cloud-event.ts';
import { type DomainEvent, type EventFeed, MAX_FEED_EVENTS } from '../feeds/domain-event.ts';
import type { NatsBus, OpenBus } from './nats-bus.ts';
import { readEnd } from './nats-stream.ts';
import { toMessageId } from './stream-message.ts';
import { repeatUntilStopped } from '../feeds/repeat-until-stopped.ts';

/** What the publisher is created from. */
export interface PublisherOptions {
  /** The outbox. */
  readonly feed: EventFeed;
  readonly bus: NatsBus;
  readonly log: Log;
}

/** Codes of the errors that the last message of the stream is another one than the expected. */
const WRONG_LAST_MESSAGE: readonly unknown[] = [10_070, 10_071, 10_164];

/**
 * Starts to publish. The last event of the stream is the only record of the position. Each message names the sequence that it must follow, and
 * its `Nats-Msg-Id` is the event's id with its own sequence. When several publishers are at one position, NATS stores the event of one. It sends the
 * others the sequence of the stored message; after the time for which it remembers ids it refuses them, and they read the end of the stream again.
 */
export function publishFeed(options: PublisherOptions): { readonly stop: () => Promise<void> } {
  return repeatUntilStopped({
    run: (signal, onSuccess) => publishUntilError(options, signal, onSuccess),
    onError(error) {
      options.log.error('events are not published to NATS', { error });
    },
  });
}

async function publishUntilError({ feed, bus, log }: PublisherOptions, signal: AbortSignal, onSuccess: () => void): Promise<void> {
  const open = await bus.ensureStream(feed.source);
  const stream = bus.streamOf(feed.source);
  let { sequence, event } = await readEnd(open, { stream, source: feed.source });
  while (!signal.aborted) {
    const events = await feed.read(event?.position, MAX_FEED_EVENTS, signal).catch((error: unknown) => {
      if (error instanceof Fault && error.code === 'GONE') return undefined;
      throw error;
    });
    if (events === undefined) {
      // The database was restored, or this process was stopped for longer than events are kept. Consumers get GONE for their position.
      log.error(`the stream ${stream} does not continue with the events that are stored: it begins again with the oldest`);
      // Not what another publisher, which has found the same, has published meanwhile.
      await open.jsm.streams.purge(stream, { seq: sequence + 1 });
      event = undefined;
      continue;
    }
    if (await publish({ open, bus, events, sequence })) {
      sequence += events.length;
      event = events.at(-1) ?? event;
    } else ({ sequence, event } = await readEnd(open, { stream, source: feed.source }));
    onSuccess();
  }
}

interface Publication {
  readonly open: OpenBus;
  readonly bus: NatsBus;
  readonly events: readonly DomainEvent[];
  /** The sequence of the last message before them. */
  readonly sequence: number;
}

/**
 * Resolves with true when all events are stored behind that message, by this publisher or another one; with false when another one is further.
 * In this case, and after an error, those before the first one that failed are stored, and others only in their places.
 */
async function publish({ open: { js }, bus, events, sequence }: Publication): Promise<boolean> {
  const ids = events.map(({ id }, i) => toMessageId(id, sequence + i + 1));
  const stored = await Promise.allSettled(
    events.map((event, i) =>
      js.publish(bus.subjectOf(event.source, event.type), JSON.stringify(toCloudEvent(event)), {
        msgID: ids[i] as string,
        // A message of another client in the place of the event before it must not let this one follow: that event would be left out.
        expect: { lastSequence: sequence + i, ...(i > 0 && { lastMsgID: ids[i - 1] as string }) },
      }),
    ),
  );
  const failed = stored.find((each) => each.status === 'rejected');
  if (failed && !WRONG_LAST_MESSAGE.includes((failed.reason as { code?: unknown }).code)) throw failed.reason;
  if (failed) return false;
  const isInPlace = ({ seq }: PubAck, i: number) => seq === sequence + i + 1;
  const areInPlace = stored.every((each, i) => each.status === 'fulfilled' && isInPlace(each.value, i));
  // The bus knows an id, but elsewhere: the stream is not what it was.
  if (!areInPlace) throw new Error('The bus has an event in another place.');
  return true;
}
