/**
 * A durable consumer of a feed (ADR 24): each event takes effect exactly once, whatever ends this process and when. An event whose effect fails
 * again and again is set aside, so that it does not block the others.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@trestle/log';
import { Fault } from '@trestle/schema/errors';
import { type BackoffLimits, backoffMs } from '@trestle/service/process/backoff';
import type { Registry } from 'prom-client';
import { toDatabaseFault } from '../../database/database-faults.ts';
import type { Database } from '../../database/database.ts';
import type { Query } from '../../database/query.ts';
import { holdBehind, setAside } from './dead-letters.ts';
import type { DomainEvent, EventFeed } from '../feeds/domain-event.ts';
import { type ConsumerKey, lockPosition, readPosition, storeFailures, storePosition } from './feed-position.ts';
import { repeatUntilStopped } from '../feeds/repeat-until-stopped.ts';
import { createReplays } from './replay-dead-letters.ts';

/** What a consumer is created from. */
export interface ConsumerOptions {
  readonly feed: EventFeed;
  /** The name of the effect, unique in the consumer's database, e.g. `journal`. */
  readonly consumer: string;
  /** The consumer's own database. */
  readonly database: Pick<Database, 'query' | 'transact'>;
  /**
   * Makes the effect of events, in their order, by `query`, whose transaction also stores the position: both are committed or neither. It must
   * end within the time limit of a statement; of events that take longer, half as many are tried. When it throws, each event is tried alone; one that fails `retries.attempts` times is set aside.
   * After a gap or a restored backup of the source, events come that it has seen: those of one id must have one effect.
   */
  readonly handle: (events: readonly DomainEvent[], query: Query) => Promise<void>;
  readonly log: Log;
  readonly metrics: Registry;
  /** Called when events were removed before this consumer has read them, or the source was restored. It then begins with the oldest. */
  readonly onGap?: () => void;
  /** The most events of one transaction. */
  readonly batch?: number;
  /** How often, and with which pauses, the effect of one event is tried before it is set aside. */
  readonly retries?: BackoffLimits & { readonly attempts: number };
}

/** A running consumer. */
export interface FeedConsumer {
  /** Resolves when the transaction in progress has ended. */
  readonly stop: () => Promise<void>;
}

/** Events behind a position. */
interface Batch {
  readonly after: string | undefined;
  readonly events: readonly DomainEvent[];
}

const BATCH = 200;
/** About 11 s of pauses; 35 s when the statements of the effect exceed their time limit. */
const RETRIES = { attempts: 8, firstMs: 100, maxMs: 5000 };
/** Processes that start together do not reach each other at once. As many failures in a row, about 6 s, are no error yet. */
const EXPECTED_FAILURES = 6;

/** Starts the consumer. Several processes may run one of the same name: whichever is first makes the effect of an event. */
export function consumeFeed(options: ConsumerOptions): FeedConsumer {
  const { log, consumer, feed } = options;
  const replay = createReplays({ ...options, isTransient });
  return repeatUntilStopped({
    run: (signal, onSuccess) => consumeUntilError(options, signal, { replay, onSuccess }),
    onError(error, failures) {
      log[failures > EXPECTED_FAILURES ? 'error' : 'info'](`${consumer} cannot consume the events of ${feed.source}`, { error });
    },
  });
}

interface Steps {
  readonly replay: (signal: AbortSignal) => Promise<void>;
  readonly onSuccess: () => void;
}

async function consumeUntilError(options: ConsumerOptions, signal: AbortSignal, { replay, onSuccess }: Steps): Promise<void> {
  const { feed, database, batch = BATCH } = options;
  let after = await readPosition(keyOf(options), database.query);
  while (!signal.aborted) {
    await replay(signal);
    const events = await feed.read(after, batch, signal).catch((error: unknown) => {
      if (error instanceof Fault && error.code === 'GONE') return undefined;
      throw error;
    });
    if (events === undefined) after = await beginAgain(options, after);
    else if (events.length > 0) after = await takeAll(options, { after, events }, signal);
    onSuccess();
  }
}

/** Makes the effect of events, each alone when they fail together. Resolves with the position that is stored now. */
async function takeAll(options: ConsumerOptions, { after, events }: Batch, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await take(options, { after, events });
  } catch (error) {
    if (signal.aborted) throw error;
    if (events.length > 1 && isTimeout(error)) return takeHalves(options, { after, events }, signal);
    if (isTransient(error)) throw error;
  }
  let reached = after;
  for (const event of events) {
    reached = await takeOne(options, { after: reached, event }, signal);
    // Another process is ahead.
    if (reached !== event.position) break;
  }
  return reached;
}

/** Makes the effect of events that take too long together. The position is stored between the halves, so that each attempt makes progress. */
async function takeHalves(options: ConsumerOptions, { after, events }: Batch, signal: AbortSignal): Promise<string | undefined> {
  const first = events.slice(0, Math.ceil(events.length / 2));
  const reached = await takeAll(options, { after, events: first }, signal);
  // Another process is ahead.
  if (reached !== first.at(-1)?.position) return reached;
  return takeAll(options, { after: reached, events: events.slice(first.length) }, signal);
}

type Single = Pick<Batch, 'after'> & { readonly event: DomainEvent };

async function takeOne(options: ConsumerOptions, { after, event }: Single, signal: AbortSignal): Promise<string | undefined> {
  for (;;) {
    try {
      return await take(options, { after, events: [event] });
    } catch (error) {
      if (signal.aborted || isTransient(error)) throw error;
      const { position, waitMs } = await storeFailure(options, { after, event, error });
      if (waitMs === undefined) return position;
      await delay(waitMs, undefined, { signal });
    }
  }
}

/** Makes the effect of events unless another process has consumed what is behind `after`. Resolves with the position that is stored now. */
async function take(options: ConsumerOptions, { after, events }: Batch): Promise<string | undefined> {
  const key = keyOf(options);
  return options.database.transact(async (query) => {
    const stored = await lockPosition(key, query);
    if (stored.position !== after) return stored.position;
    const due = await holdBehind(key, query, events);
    if (due.length > 0) await options.handle(due, query);
    const position = events.at(-1)?.position;
    await storePosition(key, query, position);
    return position;
  });
}

/** Counts the failure, or sets the event aside after the last. Resolves with the pause until the next attempt, or with the position behind it. */
async function storeFailure(
  options: ConsumerOptions,
  { after, event, error }: Single & { readonly error: unknown },
): Promise<{ readonly position: string | undefined; readonly waitMs?: number }> {
  const { log, consumer, feed, database, retries = RETRIES } = options;
  const key = keyOf(options);
  const result = await database.transact(async (query) => {
    const stored = await lockPosition(key, query);
    if (stored.position !== after) return { position: stored.position };
    const failures = stored.failedEventId === event.id ? stored.failures + 1 : 1;
    if (failures < retries.attempts) {
      await storeFailures(key, query, { failedEventId: event.id, failures });
      // A database under load has more time to recover.
      return { position: after, failures, waitMs: isTimeout(error) ? retries.maxMs : backoffMs(failures, retries) };
    }
    await setAside(key, query, { event, error, failures });
    await storePosition(key, query, event.position);
    return { position: event.position, failures };
  });
  const what = `${consumer} cannot consume ${event.type} ${event.id} of ${feed.source}`;
  if (result.failures === 1 && result.waitMs !== undefined) log.warn(`${what}; trying again`, { error });
  else if (result.failures === retries.attempts)
    log.error(`${what}: it is set aside after ${String(retries.attempts)} attempts, with later events of ${event.subject}`, { error });
  return result;
}

async function beginAgain(options: ConsumerOptions, after: string | undefined): Promise<string | undefined> {
  const { log, consumer, feed, database, onGap } = options;
  const key = keyOf(options);
  log.error(`${consumer} has missed events of ${feed.source}, or ${feed.source} was restored: it begins with the oldest event`);
  onGap?.();
  return database.transact(async (query) => {
    const stored = await lockPosition(key, query);
    if (stored.position !== after) return stored.position;
    await storePosition(key, query, undefined);
    return undefined;
  });
}

function keyOf({ consumer, feed }: Pick<ConsumerOptions, 'consumer' | 'feed'>): ConsumerKey {
  return { consumer, source: feed.source };
}

/** Returns whether PostgreSQL has cancelled a statement because of its time limit. */
function isTimeout(error: unknown): boolean {
  return toDatabaseFault(error)?.code === 'UPSTREAM_TIMEOUT';
}

/**
 * Returns whether an effect has failed for a reason outside the event: the database, or another service. Such an event is never set aside. A timeout of
 * a single event is no such reason: it can come of the event, which would then block all others. Its failure is stored in the same database, so it counts
 * only while that database responds.
 */
function isTransient(error: unknown): boolean {
  if (isTimeout(error)) return false;
  if (error instanceof Fault) return ['SERVICE_UNAVAILABLE', 'UPSTREAM_ERROR', 'UPSTREAM_TIMEOUT'].includes(error.code);
  return toDatabaseFault(error) !== undefined;
}
