/** All subscriptions that run: the same one asked for by several is run once. */
import { fail } from '@trestle/schema/errors';
import type { EngineRequest, Listener } from '../engines/engine.ts';
import type { Writing } from '../execute/answer.ts';
import type { FetchStep } from '../program/program.ts';
import { createContext } from '../request/caller.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import { Backlog } from './backlog.ts';
import type { Serving } from './execute-event.ts';
import type { Reason } from './stream-end.ts';
import { Feed, type FeedCounts } from './response-stream.ts';
import { toSourcePosition } from '../request/position.ts';

export interface HubOptions extends Writing {
  /** The most listeners that this process takes. */
  readonly maxSubscriptions: number;
  /** So long a lost source is looked for. */
  readonly reconnectMs: number;
}

export interface ListenRequest extends Serving {
  readonly request: EngineRequest;
  /** The variables with their defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
}

export interface Hub {
  /** Adds a listener. Throws RATE_LIMIT_EXCEEDED when there are too many, GONE for a position of another subgraph. */
  listen(request: ListenRequest, listener: Listener): void;
  /** Plans everything anew for a snapshot that is served from now on; what would have to come from elsewhere ends with SUBSCRIPTION_SCHEMA_RELOAD. */
  take(snapshot: Snapshot): void;
  stop(): void;
  readonly counts: HubCounts;
}

export interface HubCounts {
  /** Who listens, and how many feeds that takes. */
  readonly listeners: number;
  readonly feeds: number;
  readonly received: number;
  readonly delivered: number;
  /** Events that are not completed. */
  readonly waiting: number;
  /** Called with each event's seconds from its subgraph's word to its listeners. */
  observeLag: (seconds: number) => void;
}

const RELOAD: Reason = {
  cause: 'schema-reload',
  code: 'SUBSCRIPTION_SCHEMA_RELOAD',
  message: 'The schema has changed: subscribe again',
};

export function createHub(options: HubOptions): Hub {
  const { maxSubscriptions, reconnectMs, buffers, log, subgraphErrors } = options;
  const feeds = new Set<Feed>();
  /** Those that one more may join, by all that may change what he is told. */
  const open = new Map<string, Feed>();
  /** Those that tell positions, by what they are of. */
  const positioned = new Map<string, Set<Feed>>();
  const backlog = new Backlog();
  let current: Snapshot | undefined;
  let observeLag: HubCounts['observeLag'] = () => undefined;
  const feedCounts: FeedCounts = {
    listeners: 0,
    received: 0,
    delivered: 0,
    observeLag: (seconds) => {
      observeLag(seconds);
    },
  };
  const close = (key: string, feed: Feed) => {
    if (open.get(key) === feed) open.delete(key);
  };
  const create = (subject: string, key: string, { request, snapshot, operation, conditions }: ListenRequest): Feed => {
    const { query, operationName, variables, resume } = request;
    const context = contextOf(request, operation.program.isPublic);
    const feed: Feed = new Feed(
      {
        request: { document: { query, operationName }, variables, conditions, resume, context },
        reconnectMs,
        counts: feedCounts,
        backlog,
        buffers,
        log,
        subgraphErrors,
        onReached: () => {
          // Who asks for what came after a position that is behind it already needs a feed of his own.
          if (resume?.after !== undefined && feed.reached !== resume.after) close(key, feed);
          meet(feed, positioned.get(subject));
        },
        onOver: () => {
          feeds.delete(feed);
          close(key, feed);
          leave(positioned, subject, feed);
        },
      },
      { snapshot, operation },
    );
    feeds.add(feed);
    open.set(key, feed);
    if (resume) positioned.set(subject, (positioned.get(subject) ?? new Set()).add(feed));
    return feed;
  };
  const replan = async (feed: Feed, snapshot: Snapshot) => {
    const ready = await snapshot.prepare(feed.request.document).catch(() => undefined);
    // A newer one has come meanwhile, which plans it again.
    if (snapshot !== current) return;
    const isKept = ready && 'operation' in ready && feed.adopt({ snapshot, operation: ready.operation });
    if (!isKept) feed.endWith(RELOAD);
  };

  return {
    listen(asked, listener) {
      const { request, snapshot, operation } = asked;
      if (feedCounts.listeners >= maxSubscriptions)
        throw fail('RATE_LIMIT_EXCEEDED', `The server takes ${String(maxSubscriptions)} subscriptions, and has as many`);
      const { resume } = request;
      if (resume?.after !== undefined) toSourcePosition((operation.program.source as FetchStep).service, resume.after);
      operation.uses++;
      const subject = subjectOf(request, operation.program.isPublic);
      const key = resume ? `${subject}\n${resume.after ?? ''}` : subject;
      const known = open.get(key);
      if (known && !known.isEnding) {
        known.add(listener);
        return;
      }
      const feed = create(subject, key, asked);
      feed.add(listener);
      feed.start();
      // It was prepared for a snapshot that was replaced while its document was on its way here.
      if (current && snapshot !== current) void replan(feed, current);
    },
    take(snapshot) {
      current = snapshot;
      for (const feed of [...feeds]) void replan(feed, snapshot);
    },
    stop() {
      for (const feed of [...feeds]) feed.endWith({ cause: 'shutdown', code: 'SERVICE_UNAVAILABLE', message: 'The server is going down' });
    },
    counts: {
      get listeners() {
        return feedCounts.listeners;
      },
      get feeds() {
        return feeds.size;
      },
      get received() {
        return feedCounts.received;
      },
      get delivered() {
        return feedCounts.delivered;
      },
      get waiting() {
        return backlog.size;
      },
      set observeLag(observe) {
        observeLag = observe;
      },
      get observeLag() {
        return observeLag;
      },
    },
  };
}

/** Two feeds of the same that have come equally far go on as one: whoever was lost and has caught up listens with the others again. */
function meet(feed: Feed, others: ReadonlySet<Feed> = new Set()): void {
  for (const other of others) {
    if (other !== feed && (isBetter(other, feed) ? feed.joinTo(other) : other.joinTo(feed))) return;
  }
}

/** The one that everybody new joins stays; else the one with more listeners, as the others have to move. */
function isBetter(one: Feed, other: Feed): boolean {
  const isNow = (feed: Feed) => feed.request.resume?.after === undefined;
  return isNow(one) === isNow(other) ? one.size > other.size : isNow(one);
}

function leave(sets: Map<string, Set<Feed>>, subject: string, feed: Feed): void {
  const set = sets.get(subject);
  set?.delete(feed);
  if (set?.size === 0) sets.delete(subject);
}

/** All that may change what a listener reads; of who asks only where it may matter. */
function subjectOf({ query, operationName, variables, context }: EngineRequest, isPublic: boolean): string {
  return JSON.stringify([query, operationName ?? null, sort(variables), isPublic ? [] : context.identity]);
}

/** What is public is fetched by nobody in particular. */
function contextOf({ context }: EngineRequest, isPublic: boolean): EngineRequest['context'] {
  // A request's trace ends when it is answered, and this one goes on.
  const lasting = { ...context, trace: undefined };
  return isPublic ? createContext({ ...lasting, caller: null, identity: [], mutationHeaders: [] }) : lasting;
}

/** The same value with the members of its objects in one order. */
function sort(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sort);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, sort(inner)] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}
