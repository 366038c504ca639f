/**
 * One response stream with its subscribers (GraphQL §6.2.3.2): each event of the source stream is completed by the rest of the plan, written once,
 * and sent to every subscriber. Events are completed concurrently and sent in the order of their arrival.
 */
import type { Cancellation } from '@trestle/service/process/cancellation';
import type { FetchHooks } from '../execute/send-fetch.ts';
import type { Writing } from '../execute/write-result.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import type { FetchStep } from '../program/program.ts';
import type { SubgraphResult } from '../program/result.ts';
import { toClientPosition } from '../request/position.ts';
import type { StreamEnd, Subscriber, SubscriptionEvent } from '../request/subscriber.ts';
import type { ConnectionLoss } from '../upstream/subscriptions/subscription-upstream.ts';
import type { Backlog } from './backlog.ts';
import { type PlannedOperation, executeEvent } from './execute-event.ts';
import { OrderedWork } from './ordered-work.ts';
import { PagedSource } from './paged-source.ts';
import { SourceStream, type SourceStreamReceiver } from './source-stream.ts';
import { type StreamRequest, identifySource, toSourceRequest } from './stream-request.ts';
import { type EndReason, toLossReason, toRefusal, toStreamEnd } from './stream-end.ts';
import { type SubscriberCounts, Subscribers } from './subscribers.ts';

/** Events of one stream that are completed concurrently. */
const MAX_CONCURRENT = 16;
/** Events of one stream that wait to be completed. A faster source stream is paused until few wait; one that cannot pause is ended. */
const MAX_WAITING = 1000;
const FEW_WAITING = 50;
/** Bytes of the events of one stream that wait to be completed, at which it is paused or ended as well. An event has at most half of it. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

/** The hooks of fetches and of events. */
export type StreamHooks = FetchHooks & Pick<Hooks, 'onEvent'>;

export interface ResponseStreamOptions extends Writing {
  readonly hooks: StreamHooks;
  readonly request: StreamRequest;
  readonly reconnectMs: number;
  readonly counts: StreamCounts;
  readonly backlog: Backlog;
  /** Called after each event with a position was sent. */
  readonly onPosition: () => void;
  /** Called once, when the last subscriber has left or the stream has ended. */
  readonly onClosed: () => void;
}

/** Counts over all streams of a process. */
export interface StreamCounts extends SubscriberCounts {
  received: number;
  /** Called for each event that was sent, with the seconds since its arrival. */
  readonly observeLag: (seconds: number) => void;
}

/** A message of the source stream: an event, or a position without one. */
interface Arrival {
  readonly receivedAt: number;
  readonly event: SubgraphResult | undefined;
  readonly position: string | undefined;
  readonly planned: PlannedOperation;
  /** About how many bytes the message had. */
  readonly size: number;
}

export class ResponseStream {
  readonly #options: ResponseStreamOptions;
  readonly #subscribers: Subscribers;
  readonly #work: OrderedWork<Arrival, SubscriptionEvent>;
  readonly #source: PagedSource;
  #planned: PlannedOperation;
  #position: string | undefined;
  /** Bytes of the events whose results are not sent. */
  #waitingBytes = 0;
  /** Sent after the last event. */
  #end: StreamEnd | undefined;
  #isClosed = false;

  constructor(options: ResponseStreamOptions, planned: PlannedOperation) {
    this.#options = options;
    this.#planned = planned;
    this.#subscribers = new Subscribers({
      counts: options.counts,
      pending: () => this.#work.size,
      onEmpty: () => {
        this.#close();
      },
    });
    this.#source = new PagedSource(options.backlog, () => this.#openSource());
    this.#work = new OrderedWork({
      concurrent: () => (options.backlog.isFull ? 1 : MAX_CONCURRENT),
      work: (arrival, done) => this.#complete(arrival, done),
      deliver: (event, { size }) => {
        this.#waitingBytes -= size;
        this.#send(event);
      },
      onIdle: () => {
        if (this.#end) this.#closeWith(this.#end);
      },
    });
  }

  get request(): StreamRequest {
    return this.#options.request;
  }

  /** The last position that was sent; undefined for a stream without positions. */
  get position(): string | undefined {
    return this.#position;
  }

  get size(): number {
    return this.#subscribers.size;
  }

  /** Whether it accepts no more subscribers: it sends what has arrived and ends. */
  get isEnding(): boolean {
    return this.#end !== undefined;
  }

  add(subscriber: Subscriber): void {
    this.#subscribers.add(subscriber, this.#planned.operation.program.name);
    const position = this.#position;
    if (position === undefined) return;
    subscriber.next({ bytes: toPositionResult(position), receivedAt: performance.now(), position, isPositionOnly: true });
  }

  /**
   * Moves every subscriber to another stream of the same events that has sent the same position: both send the same from then on, and this one
   * ends. Returns false when that is impossible now.
   */
  mergeInto(other: ResponseStream): boolean {
    if (this.#end || other.#end || other.#isClosed || this.#position !== other.#position) return false;
    if (!this.#subscribers.moveTo(other.#subscribers)) return false;
    this.#close();
    return true;
  }

  /** Opens the source stream, at once or when the backlog has room for missed events. Called once, after the first subscriber was added. */
  start(): void {
    this.#source.start(this.request.resume?.after !== undefined);
  }

  /** Completes later events by another plan. Returns false when the source stream would have to be another one. */
  adopt(planned: PlannedOperation): boolean {
    const [now, next] = [identifySource(this.#planned), identifySource(planned)];
    if (now === undefined || now !== next) return false;
    // Otherwise results would begin, or cease, to depend on the caller.
    if (this.#planned.operation.program.isPublic !== planned.operation.program.isPublic) return false;
    this.#planned = planned;
    // Its protocol, and further addresses, may have changed.
    const { service } = planned.operation.program.source as FetchStep;
    const upstream = planned.snapshot.upstream(service)?.subscriptions;
    if (upstream) this.#source.move(upstream);
    return true;
  }

  /** Sends what has arrived, then the reason, and ends. */
  endWith(reason: EndReason): void {
    this.#endAfterEvents(toStreamEnd(reason, this.request.context.requestId));
  }

  #openSource(): SourceStream | undefined {
    // The only subscriber may have left before the backlog had room.
    if (this.#isClosed) return undefined;
    const { request, reconnectMs } = this.#options;
    const { service } = this.#planned.operation.program.source as FetchStep;
    const source = toSourceRequest(request, this.#planned);
    if (source) return new SourceStream({ ...source, reconnectMs }, this.#receive(service));
    this.endWith({ cause: 'source-lost', code: 'UPSTREAM_ERROR', message: `The subgraph ${service} has no address.` });
    return undefined;
  }

  /** Returns what the source stream of a subgraph calls. */
  #receive(service: string): SourceStreamReceiver {
    const { counts, request, subgraphErrors } = this.#options;
    const toPosition = (position: string | undefined) =>
      request.resume && position !== undefined ? toClientPosition(service, position) : undefined;
    return {
      next: (event, position, size) => {
        counts.received++;
        this.#push(event, toPosition(position), size);
      },
      reached: (position, isKnown) => {
        if (request.resume && !isKnown) this.#push(undefined, toPosition(position), 0);
        else this.#source.settle();
      },
      pageEnded: () => {
        this.#source.pageEnded();
        this.#requestPage();
      },
      complete: () => {
        this.#endAfterEvents({ cause: 'complete', errors: [] });
      },
      refused: (errors) => {
        this.#endAfterEvents(toRefusal(errors, { service, requestId: request.context.requestId, subgraphErrors }));
      },
      lost: (loss) => {
        this.#lose(loss, service);
      },
    };
  }

  #push(event: SubgraphResult | undefined, position: string | undefined, size: number): void {
    this.#options.backlog.add();
    this.#source.settle();
    this.#waitingBytes += size;
    this.#work.push({ receivedAt: performance.now(), event, position, planned: this.#planned, size });
    const isFull = this.#work.size >= MAX_WAITING || this.#waitingBytes >= MAX_WAITING_BYTES;
    if (!isFull || this.#source.isPaused || this.#end) return;
    if (!this.#source.pause())
      this.endWith({
        cause: 'overload',
        code: 'SERVICE_UNAVAILABLE',
        message: 'Events arrive faster than the gateway can complete them. Read the current state, then subscribe again.',
      });
  }

  /** Returns what cancels the fetches of the event. */
  #complete({ event, receivedAt, position, planned }: Arrival, done: (event: SubscriptionEvent) => void): Cancellation | undefined {
    if (!event) {
      done({ bytes: toPositionResult(position), receivedAt, position, isPositionOnly: true });
      return undefined;
    }
    const extensions = position === undefined ? undefined : { position };
    return executeEvent({ ...this.request, planned, event, extensions }, this.#options, (bytes) => {
      done({ bytes, receivedAt, position });
    });
  }

  #send(event: SubscriptionEvent): void {
    this.#options.backlog.remove();
    this.#position = event.position ?? this.#position;
    const { onEvent } = this.#options.hooks;
    if (onEvent && !event.isPositionOnly) {
      const { name: operationName } = this.#planned.operation.program;
      onEvent({ operationName, subscribers: this.size, readBody: () => event.bytes.toString() });
    }
    this.#subscribers.send(event);
    // The last subscriber may have left with this event.
    if (this.#isClosed) return;
    this.#options.counts.observeLag((performance.now() - event.receivedAt) / 1000);
    if (event.position !== undefined) this.#options.onPosition();
    this.#requestPage();
  }

  /** Requests more of a paused source stream when few events wait. */
  #requestPage(): void {
    if (!this.#isClosed && !this.#end && this.#work.size <= FEW_WAITING && this.#waitingBytes < MAX_WAITING_BYTES / 2)
      this.#source.request();
  }

  #lose(loss: ConnectionLoss, service: string): void {
    const { log, request } = this.#options;
    log.warn('lost the source stream of a subscription', {
      requestId: request.context.requestId,
      subgraph: service,
      error: loss.cause,
    });
    this.endWith(toLossReason(loss, { service, isAnonymous: request.context.identity.length === 0 }));
  }

  #endAfterEvents(end: StreamEnd): void {
    this.#source.close();
    this.#end ??= end;
    if (this.#work.size === 0) this.#closeWith(this.#end);
  }

  #closeWith(end: StreamEnd): void {
    for (const subscriber of this.#close()) subscriber.end(end);
  }

  /** Stops everything and returns the subscribers that were left. */
  #close(): Subscriber[] {
    if (this.#isClosed) return [];
    this.#isClosed = true;
    this.#source.stop();
    const { size } = this.#work;
    this.#work.stop();
    this.#options.backlog.remove(size);
    const subscribers = this.#subscribers.release();
    this.#options.onClosed();
    return subscribers;
  }
}

/** Returns a result that only carries a position. */
function toPositionResult(position: string | undefined): Buffer {
  return Buffer.from(JSON.stringify({ data: null, extensions: position === undefined ? undefined : { position } }));
}
