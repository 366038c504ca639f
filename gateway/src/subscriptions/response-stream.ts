/**
 * One running subscription with all who listen to it: source → remainder of the plan for each event → one written result, told to every listener.
 * Remainders run side by side, and events leave in the order they came in.
 */
import type { EngineContext, LiveEvent, Listener, StreamEnd } from '../engines/engine.ts';
import type { Writing } from '../execute/answer.ts';
import type { SubgraphAnswer } from '../execute/execute.ts';
import type { FetchStep } from '../program/program.ts';
import type { DocumentRequest } from '../supergraph/snapshot.ts';
import type { Loss } from '../upstream/subgraph-socket.ts';
import { Audience, type AudienceCounts } from './subscribers.ts';
import { type Backlog, Turn } from './backlog.ts';
import { type Serving, completeEvent } from './execute-event.ts';
import { type Reason, reasonOfLoss, toEnd, toRefusal } from './stream-end.ts';
import { OrderedWork } from './ordered-work.ts';
import { type Resume, toClientPosition, toSourcePosition } from '../request/position.ts';
import { type Source, openSource } from './source-stream.ts';

/** So many remainders of one subscription run at the same time. */
const MAX_CONCURRENT = 16;
/** So many events may wait to be completed. A source that is faster is asked to wait, until there are few; one that can't ends the stream. */
const MAX_WAITING = 1000;
const FEW_WAITING = 50;

/** What a feed is of: all that decides what its listeners read. */
export interface FeedRequest {
  readonly document: DocumentRequest;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Whether positions are told, and from behind which it goes on. */
  readonly resume: Resume | undefined;
  /** Of the first who asked; nothing of it is told to the others but what all have in common. */
  readonly context: EngineContext;
}

export interface FeedOptions extends Writing {
  readonly request: FeedRequest;
  readonly reconnectMs: number;
  readonly counts: FeedCounts;
  readonly backlog: Backlog;
  /** It is told how far it has come: by events of which it knows, or by its subgraph's word. */
  readonly onReached: () => void;
  /** The last listener has gone, or the stream has ended. */
  readonly onOver: () => void;
}

export interface FeedCounts extends AudienceCounts {
  received: number;
  /** Called for each event that was told, with the seconds since it came. */
  readonly observeLag: (seconds: number) => void;
}

/** What its subgraph told: an event, or how far it has come without one. */
interface Arrival {
  readonly receivedAt: number;
  readonly answer: SubgraphAnswer | undefined;
  readonly position: string | undefined;
  readonly serving: Serving;
}

export class Feed {
  readonly #options: FeedOptions;
  readonly #audience: Audience;
  readonly #work: OrderedWork<Arrival, LiveEvent>;
  readonly #turn: Turn;
  #serving: Serving;
  #source: Source | undefined;
  /** The position that everybody was told last. */
  #reached: string | undefined;
  /** Told once every event before it is. */
  #end: StreamEnd | undefined;
  #isPaused = false;
  #isOver = false;

  constructor(options: FeedOptions, serving: Serving) {
    this.#options = options;
    this.#serving = serving;
    this.#audience = new Audience({
      counts: options.counts,
      pending: () => this.#work.size,
      onEmpty: () => {
        this.#stop();
      },
    });
    this.#turn = new Turn(options.backlog, () => {
      this.#isPaused = false;
      if (this.#source) this.#source.resume();
      else this.#open();
    });
    this.#work = new OrderedWork({
      concurrent: () => (options.backlog.isFull ? 1 : MAX_CONCURRENT),
      work: ({ answer, receivedAt, position, serving: by }, done) => {
        const extensions = position === undefined ? undefined : { position };
        const tell = (bytes: Buffer) => {
          done({ bytes, receivedAt, position });
        };
        if (answer) completeEvent({ ...options.request, serving: by, answer, extensions }, options, tell);
        else tell(Buffer.from(JSON.stringify({ data: null, extensions })));
      },
      deliver: this.#tell,
      onIdle: () => {
        if (this.#end) this.#close(this.#end);
      },
    });
  }

  get request(): FeedRequest {
    return this.#options.request;
  }

  /** The position that its listeners were told last, if they want to know any. */
  get reached(): string | undefined {
    return this.#reached;
  }

  get size(): number {
    return this.#audience.size;
  }

  /** Whether it tells what has come, and then ends. */
  get isEnding(): boolean {
    return this.#end !== undefined;
  }

  add(listener: Listener): void {
    this.#audience.add(listener, this.#serving.operation.program.name);
    const position = this.#reached;
    if (position === undefined) return;
    listener.next({
      bytes: Buffer.from(JSON.stringify({ data: null, extensions: { position } })),
      receivedAt: performance.now(),
      position,
    });
  }

  /**
   * Has all who listen here listen to another feed of the same events, which was told as far as this one: what both have still to tell
   * is the same. Gives false when that can't be now.
   */
  joinTo(other: Feed): boolean {
    if (this.#end || other.#end || other.#isOver || this.#reached !== other.#reached) return false;
    if (!this.#audience.moveTo(other.#audience)) return false;
    this.#stop();
    return true;
  }

  /** Opens the source, now or when there is room for what was missed. To be called once, when the first listener is there. */
  start(): void {
    if (this.request.resume?.after === undefined) this.#open();
    else this.#turn.ask();
  }

  #open(): void {
    // Its only listener may have gone before he was let in.
    if (this.#isOver) return;
    const { request, reconnectMs, counts } = this.#options;
    const { snapshot, operation } = this.#serving;
    const source = operation.program.source as FetchStep;
    const upstream = snapshot.upstream(source.service);
    if (!upstream) {
      this.endWith({ cause: 'source-lost', code: 'UPSTREAM_ERROR', message: `The subgraph ${source.service} has no address` });
      return;
    }
    const { context, variables, resume } = request;
    const { operation: query, operationName, service } = source;
    const after = resume?.after === undefined ? undefined : toSourcePosition(service, resume.after);
    this.#source = openSource(
      {
        live: upstream.live,
        identity: context.identity,
        requestId: context.requestId,
        payload: { query, operationName, variables: pick(variables, source.variables) },
        after,
        reconnectMs,
      },
      {
        next: (answer, position) => {
          counts.received++;
          this.#take(answer, resume && position && toClientPosition(service, position));
        },
        reached: (position, isKnown) => {
          if (resume && !isKnown) this.#take(undefined, toClientPosition(service, position));
          else this.#turn.answered();
        },
        full: () => {
          this.#isPaused = true;
          this.#askForMore();
        },
        complete: () => {
          this.#finishStream({ cause: 'complete', errors: [] });
        },
        refused: (errors) => {
          this.#finishStream(toRefusal(errors, { service, requestId: context.requestId, subgraphErrors: this.#options.subgraphErrors }));
        },
        lost: (loss) => {
          this.#lose(loss, service);
        },
      },
    );
  }

  /** Completes events that come from now on by another plan. Gives false when they would have to come from elsewhere. */
  adopt(serving: Serving): boolean {
    const [now, next] = [addressOf(this.#serving), addressOf(serving)];
    if (now === undefined || now !== next) return false;
    // Who asks may matter now, or no longer.
    if (this.#serving.operation.program.isPublic !== serving.operation.program.isPublic) return false;
    this.#serving = serving;
    return true;
  }

  /** Tells what came so far, then the reason, and ends. */
  endWith(reason: Reason): void {
    this.#finishStream(toEnd(reason, this.request.context.requestId));
  }

  #take(answer: SubgraphAnswer | undefined, position: string | undefined): void {
    const { backlog } = this.#options;
    backlog.add();
    this.#turn.answered();
    this.#work.push({ receivedAt: performance.now(), answer, position, serving: this.#serving });
    if (this.#work.size < MAX_WAITING || this.#isPaused || this.#end) return;
    if (this.#source?.pause()) this.#isPaused = true;
    else this.endWith({ cause: 'overload', code: 'SERVICE_UNAVAILABLE', message: 'Events come faster than they can be completed' });
  }

  readonly #tell = (event: LiveEvent): void => {
    if (this.#isOver) return;
    this.#options.backlog.remove();
    this.#reached = event.position ?? this.#reached;
    this.#audience.tell(event);
    // The last one may have gone with it.
    if (this.#isOver as boolean) return;
    this.#options.counts.observeLag((performance.now() - event.receivedAt) / 1000);
    if (event.position !== undefined) this.#options.onReached();
    this.#askForMore();
  };

  /** What was asked for is done, but for a few. */
  #askForMore(): void {
    if (this.#isPaused && !this.#isOver && !this.#end && this.#work.size <= FEW_WAITING) this.#turn.ask();
  }

  #lose(loss: Loss, service: string): void {
    const { log, request } = this.#options;
    log.warn('lost the source of a subscription', { requestId: request.context.requestId, subgraph: service, error: loss.cause });
    this.endWith(reasonOfLoss(loss, service));
  }

  #finishStream(end: StreamEnd): void {
    this.#source?.close();
    this.#end ??= end;
    if (this.#work.size === 0) this.#close(this.#end);
  }

  #close(end: StreamEnd): void {
    for (const listener of this.#stop()) listener.end(end);
  }

  /** Gives who was still there. */
  #stop(): Listener[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    this.#source?.close();
    const { backlog } = this.#options;
    const { size } = this.#work;
    this.#work.stop();
    backlog.remove(size);
    this.#turn.end();
    const listeners = this.#audience.release();
    this.#options.onOver();
    return listeners;
  }
}

/** Where events come from and what is asked for there; undefined when there is no such place. */
function addressOf({ snapshot, operation }: Serving): string | undefined {
  const { source } = operation.program;
  const upstream = source && snapshot.upstream(source.service);
  return upstream && [source.service, upstream.live.url, source.operation, source.operationName, ...source.variables].join('\n');
}

function pick(variables: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(variables, name) ? [[name, variables[name]]] : [])));
}
