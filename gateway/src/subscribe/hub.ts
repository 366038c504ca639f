/** All subscriptions that run: the same one asked for by several is run once. */
import { fail } from '@trestle/schema/errors';
import type { EngineRequest, Listener } from '../engine.ts';
import type { Writing } from '../execute/answer.ts';
import { createContext } from '../caller.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import type { Serving } from './complete-event.ts';
import { Feed, type FeedCounts, type Reason } from './feed.ts';

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
  /** Adds a listener. Throws RATE_LIMIT_EXCEEDED when there are too many. */
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
  /** Called with each event's seconds from its subgraph's word to its listeners. */
  observeLag: (seconds: number) => void;
}

const RELOAD: Reason = {
  cause: 'schema-reload',
  code: 'SUBSCRIPTION_SCHEMA_RELOAD',
  message: 'The schema has changed: subscribe again',
};

export function createHub(options: HubOptions): Hub {
  const { maxSubscriptions, reconnectMs, buffers, log } = options;
  const feeds = new Map<string, Feed>();
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
  const open = (key: string, { request, snapshot, operation, conditions }: ListenRequest): Feed => {
    const { query, operationName, variables } = request;
    const feed = new Feed(
      {
        request: { document: { query, operationName }, variables, conditions, context: contextOf(request, operation.program.isPublic) },
        reconnectMs,
        counts: feedCounts,
        buffers,
        log,
        onOver: () => {
          if (feeds.get(key) === feed) feeds.delete(key);
        },
      },
      { snapshot, operation },
    );
    feeds.set(key, feed);
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
      operation.uses++;
      const key = keyOf(request, operation.program.isPublic);
      const known = feeds.get(key);
      if (known) {
        known.add(listener);
        return;
      }
      const feed = open(key, asked);
      feed.add(listener);
      feed.start();
      // It was prepared for a snapshot that was replaced while its document was on its way here.
      if (current && snapshot !== current) void replan(feed, current);
    },
    take(snapshot) {
      current = snapshot;
      for (const feed of [...feeds.values()]) void replan(feed, snapshot);
    },
    stop() {
      for (const feed of [...feeds.values()])
        feed.endWith({ cause: 'shutdown', code: 'SERVICE_UNAVAILABLE', message: 'The server is going down' });
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
      set observeLag(observe) {
        observeLag = observe;
      },
      get observeLag() {
        return observeLag;
      },
    },
  };
}

/** All that may change what a listener reads; of who asks only where it may matter. */
function keyOf({ query, operationName, variables, context }: EngineRequest, isPublic: boolean): string {
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
