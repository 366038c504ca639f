/** The subscriptions of this process: subscribers whose results are the same share one response stream. */
import { setTimeout as delay } from 'node:timers/promises';
import { toFault } from '@trestle/schema/errors';
import { toLimitFault } from '@trestle/schema/limit-fault';
import { stringify } from 'safe-stable-stringify';
import type { Writing } from '../execute/write-result.ts';
import { mayChangeFetches } from '../extensions/may-change-fetches.ts';
import type { FetchStep } from '../program/program.ts';
import { createContext } from '../request/context.ts';
import type { OperationRequest } from '../request/operation.ts';
import { toSourcePosition } from '../request/position.ts';
import type { Subscriber } from '../request/subscriber.ts';
import type { Snapshot } from '../supergraph/snapshot.ts';
import { Backlog } from './backlog.ts';
import type { PlannedOperation } from './execute-event.ts';
import { ResponseStream, type StreamCounts, type StreamHooks } from './response-stream.ts';
import type { EndReason } from './stream-end.ts';

export interface RegistryOptions extends Writing {
  readonly hooks: StreamHooks;
  /** The most subscribers of this process. */
  readonly maxSubscriptions: number;
  /** How long a lost source stream is retried. */
  readonly reconnectMs: number;
  /** Called for each event, with the seconds from its arrival to its last subscriber. */
  readonly observeLag: (seconds: number) => void;
}

export interface SubscribeRequest extends PlannedOperation {
  readonly request: OperationRequest;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
}

const RELOAD: EndReason = {
  cause: 'schema-reload',
  code: 'SUBSCRIPTION_SCHEMA_RELOAD',
  message: 'The schema has changed. Subscribe again.',
};
const SHUTDOWN: EndReason = { cause: 'shutdown', code: 'SERVICE_UNAVAILABLE', message: 'The server is shutting down.' };

/** Streams that are planned for a new snapshot at a time. */
const MAX_REPLANS = 16;
/** How often, and with which pause, a stream is planned again while the planner takes no more documents. */
const REPLAN = { attempts: 30, pauseMs: 1000 };

/** What decides which stream a subscriber can share. */
interface StreamKey {
  /** Everything that may change the events. */
  readonly subject: string;
  /** The same with the position after which the stream begins. */
  readonly key: string;
  /** Whether no other subscriber may share the stream: only then do hooks of its fetches know the request. */
  readonly isUnshared: boolean;
}

export class SubscriptionRegistry {
  readonly #options: RegistryOptions;
  readonly #streams = new Set<ResponseStream>();
  /** Streams that a new subscriber can join, by key. */
  readonly #joinable = new Map<string, ResponseStream>();
  /** Streams with positions, by subject. */
  readonly #positioned = new Map<string, Set<ResponseStream>>();
  readonly #backlog = new Backlog();
  readonly #counts: StreamCounts;
  #snapshot: Snapshot | undefined;
  /** Streams that no other subscriber may share. */
  #unshared = 0;

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.#counts = { subscribers: 0, received: 0, delivered: 0, observeLag: options.observeLag };
  }

  /** Counts for metrics. */
  get counts() {
    const { received, delivered } = this.#counts;
    return { responseStreams: this.#streams.size, received, delivered, waiting: this.#backlog.size };
  }

  /** Adds a subscriber. Throws RATE_LIMIT_EXCEEDED when there are too many, GONE for a position of another subgraph. */
  subscribe(request: SubscribeRequest, subscriber: Subscriber): void {
    const { maxSubscriptions } = this.#options;
    if (this.#counts.subscribers >= maxSubscriptions)
      throw toLimitFault(`The server has reached its limit of ${String(maxSubscriptions)} subscriptions. Retry later.`, {
        limit: maxSubscriptions,
      });
    const { resume } = request.request;
    if (resume?.after !== undefined) toSourcePosition((request.operation.program.source as FetchStep).service, resume.after);
    const key = this.#toKey(request);
    const known = this.#joinable.get(key.key);
    if (known && !known.isEnding) {
      known.add(subscriber);
      return;
    }
    const stream = this.#create(key, request);
    stream.add(subscriber);
    stream.start();
    // The snapshot was replaced while the operation was planned for the one before.
    if (this.#snapshot && request.snapshot !== this.#snapshot) void this.#replan(stream, this.#snapshot);
  }

  /** Plans every stream for a new snapshot. A stream whose source stream would change ends with SUBSCRIPTION_SCHEMA_RELOAD. */
  swap(snapshot: Snapshot): void {
    this.#snapshot = snapshot;
    const streams = [...this.#streams].values();
    const replanInTurn = async () => {
      for (const stream of streams) if (snapshot === this.#snapshot && this.#streams.has(stream)) await this.#replan(stream, snapshot);
    };
    // The queue of the planner is bounded: a document that it does not take would end its streams.
    for (let i = 0; i < MAX_REPLANS; i++) void replanInTurn();
  }

  stop(): void {
    for (const stream of [...this.#streams]) stream.endWith(SHUTDOWN);
  }

  /** The identity of the caller counts only where the results may depend on it. Public events are fetched without a caller, so hooks know none either. */
  #toKey({ request, operation }: SubscribeRequest): StreamKey {
    const { query, operationName, variables, resume, context } = request;
    const { isPublic } = operation.program;
    const isUnshared = !isPublic && mayChangeFetches(context, this.#options.hooks);
    const own = isUnshared ? ++this.#unshared : null;
    // Clients with fewer rights do not join a subscription of the operator.
    const rights = context.isOfOperator ?? false;
    const subject = stringify([query, operationName ?? null, variables, isPublic ? [] : context.identity, own, rights]);
    return { subject, key: resume ? `${subject}\n${resume.after ?? ''}` : subject, isUnshared };
  }

  #create({ subject, key, isUnshared }: StreamKey, { request, snapshot, operation, conditions }: SubscribeRequest): ResponseStream {
    const { query, operationName, variables, resume } = request;
    const context = toStreamContext(request, operation.program.isPublic, isUnshared);
    const stream: ResponseStream = new ResponseStream(
      {
        ...this.#options,
        request: { document: { query, operationName }, variables, conditions, resume, context },
        counts: this.#counts,
        backlog: this.#backlog,
        onPosition: () => {
          // It has passed the position of its key: a client that continues there needs a stream of its own.
          if (resume?.after !== undefined && stream.position !== resume.after) this.#removeJoinable(key, stream);
          mergeWithEqual(stream, this.#positioned.get(subject));
        },
        onClosed: () => {
          this.#streams.delete(stream);
          this.#removeJoinable(key, stream);
          removeFrom(this.#positioned, subject, stream);
        },
      },
      { snapshot, operation },
    );
    this.#streams.add(stream);
    this.#joinable.set(key, stream);
    if (resume) this.#positioned.set(subject, (this.#positioned.get(subject) ?? new Set()).add(stream));
    return stream;
  }

  #removeJoinable(key: string, stream: ResponseStream): void {
    if (this.#joinable.get(key) === stream) this.#joinable.delete(key);
  }

  async #replan(stream: ResponseStream, snapshot: Snapshot): Promise<void> {
    const { document, context } = stream.request;
    const isCurrent = () => snapshot === this.#snapshot && this.#streams.has(stream);
    const prepare = () => snapshot.prepare(document, { access: snapshot.accessOf(context), context });
    const ready = await retryWhileBusy(prepare, isCurrent);
    // A newer snapshot has replanned it meanwhile, or its last subscriber has left.
    if (!isCurrent()) return;
    const isKept = ready && 'operation' in ready && stream.adopt({ snapshot, operation: ready.operation });
    if (!isKept) stream.endWith(RELOAD);
  }
}

/** Merges a stream with another one that has sent the same position: a client that was disconnected has caught up. */
function mergeWithEqual(stream: ResponseStream, others: ReadonlySet<ResponseStream> = new Set()): void {
  for (const other of others) {
    if (other !== stream && (isPreferred(other, stream) ? stream.mergeInto(other) : other.mergeInto(stream))) return;
  }
}

/** Prefers the stream that new subscribers join, else the one with more subscribers, since the others have to move. */
function isPreferred(one: ResponseStream, other: ResponseStream): boolean {
  const isLive = (stream: ResponseStream) => stream.request.resume?.after === undefined;
  return isLive(one) === isLive(other) ? one.size > other.size : isLive(one);
}

function removeFrom(sets: Map<string, Set<ResponseStream>>, subject: string, stream: ResponseStream): void {
  const set = sets.get(subject);
  set?.delete(stream);
  if (set?.size === 0) sets.delete(subject);
}

/** Returns the context of a stream, which outlives its first request. Public events are fetched without a caller. */
function toStreamContext({ context }: OperationRequest, isPublic: boolean, isUnshared: boolean): OperationRequest['context'] {
  const lasting = { ...context, trace: undefined, extended: isUnshared ? context.extended : undefined };
  return isPublic ? createContext({ ...lasting, caller: null, identity: [], mutationHeaders: [] }) : lasting;
}

/** Resolves with undefined for a failure, and no longer retries when the result is not needed. */
async function retryWhileBusy<T>(prepare: () => Promise<T>, isNeeded: () => boolean): Promise<T | undefined> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await prepare();
    } catch (error) {
      if (toFault(error).code !== 'SERVICE_UNAVAILABLE' || attempt === REPLAN.attempts || !isNeeded()) return undefined;
      await delay(REPLAN.pauseMs, undefined, { ref: false });
    }
  }
}
