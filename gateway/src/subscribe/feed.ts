/**
 * One running subscription with all who listen to it: source → remainder of the plan for each event → one written result, told to every listener.
 * Remainders run side by side, and events leave in the order they came in.
 */
import type { EngineContext, LiveEvent, Listener, StreamEnd, Subscription } from '../engine.ts';
import { finishErrors } from '../errors.ts';
import type { Writing } from '../execute/answer.ts';
import type { AnswerError, SubgraphAnswer, SubgraphError } from '../execute/execute.ts';
import type { FetchStep } from '../execute/program.ts';
import type { DocumentRequest } from '../supergraph/snapshot.ts';
import type { Loss } from '../upstream/live-socket.ts';
import { type Serving, completeEvent } from './complete-event.ts';
import { OrderedWork } from './ordered-work.ts';
import { type Source, openSource } from './source.ts';

/** So many remainders of one subscription run at the same time. */
const MAX_CONCURRENT = 16;
/** So many events may wait to be completed; a source that is faster than that for long ends the stream. */
const MAX_WAITING = 1000;

/** What a feed is of: all that decides what its listeners read. */
export interface FeedRequest {
  readonly document: DocumentRequest;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly conditions: Readonly<Record<string, unknown>>;
  /** Of the first who asked; nothing of it is told to the others but what all have in common. */
  readonly context: EngineContext;
}

export interface FeedOptions extends Writing {
  readonly request: FeedRequest;
  readonly reconnectMs: number;
  readonly counts: FeedCounts;
  /** The last listener has gone, or the stream has ended. */
  readonly onOver: () => void;
}

export interface FeedCounts {
  listeners: number;
  received: number;
  delivered: number;
  /** Called for each event that was told, with the seconds since it came. */
  readonly observeLag: (seconds: number) => void;
}

/** An event as its subgraph told it. */
interface Arrival {
  readonly receivedAt: number;
  readonly answer: SubgraphAnswer;
  readonly serving: Serving;
}

export class Feed {
  readonly #options: FeedOptions;
  readonly #listeners = new Set<Listener>();
  /** Who leaves once the events that had come when he said so are told. */
  readonly #leaving = new Map<Listener, { events: number; readonly done: () => void }>();
  readonly #work: OrderedWork<Arrival, LiveEvent>;
  #serving: Serving;
  #source: Source | undefined;
  /** Told once every event before it is. */
  #end: StreamEnd | undefined;
  #isOver = false;

  constructor(options: FeedOptions, serving: Serving) {
    this.#options = options;
    this.#serving = serving;
    this.#work = new OrderedWork({
      concurrent: MAX_CONCURRENT,
      work: ({ answer, receivedAt, serving: by }, done) => {
        completeEvent({ ...options.request, serving: by, answer }, options, (bytes) => {
          done({ bytes, receivedAt });
        });
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

  add(listener: Listener): void {
    this.#listeners.add(listener);
    this.#options.counts.listeners++;
    const subscription: Subscription = {
      operationName: this.#serving.operation.program.name,
      stop: () => {
        this.#remove(listener);
      },
      finish: (done) => {
        this.#finish(listener, done);
      },
    };
    listener.begin(subscription);
  }

  /** Opens the source. To be called once, when the first listener is there. */
  start(): void {
    // Its only listener may have gone before he was let in.
    if (this.#isOver) return;
    const { request, reconnectMs } = this.#options;
    const { snapshot, operation } = this.#serving;
    const source = operation.program.source as FetchStep;
    const upstream = snapshot.upstream(source.service);
    if (!upstream) {
      this.#endWith({ cause: 'source-lost', code: 'UPSTREAM_ERROR', message: `The subgraph ${source.service} has no address` });
      return;
    }
    const { context, variables } = request;
    const { operation: query, operationName } = source;
    this.#source = openSource(
      {
        live: upstream.live,
        identity: context.identity,
        requestId: context.requestId,
        payload: { query, operationName, variables: pick(variables, source.variables) },
        reconnectMs,
      },
      {
        next: (answer) => {
          this.#receive(answer);
        },
        complete: () => {
          this.#finishStream({ cause: 'complete', errors: [] });
        },
        refused: (errors) => {
          this.#refuse(errors, source.service);
        },
        lost: (loss) => {
          this.#lose(loss, source.service);
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
    this.#endWith(reason);
  }

  #receive(answer: SubgraphAnswer): void {
    const { counts } = this.#options;
    counts.received++;
    if (this.#work.size >= MAX_WAITING)
      this.#endWith({ cause: 'overload', code: 'SERVICE_UNAVAILABLE', message: 'Events come faster than they can be completed' });
    else this.#work.push({ receivedAt: performance.now(), answer, serving: this.#serving });
  }

  readonly #tell = (event: LiveEvent): void => {
    const { counts } = this.#options;
    for (const listener of this.#listeners) {
      listener.next(event);
      counts.delivered++;
    }
    counts.observeLag((performance.now() - event.receivedAt) / 1000);
    for (const [listener, leave] of this.#leaving) {
      if (--leave.events > 0) continue;
      this.#remove(listener);
      leave.done();
    }
  };

  #finish(listener: Listener, done: () => void): void {
    if (this.#work.size === 0 || !this.#listeners.has(listener)) {
      this.#remove(listener);
      done();
    } else this.#leaving.set(listener, { events: this.#work.size, done });
  }

  #remove(listener: Listener): void {
    this.#leaving.delete(listener);
    if (!this.#listeners.delete(listener)) return;
    this.#options.counts.listeners--;
    if (this.#listeners.size === 0) this.#stop();
  }

  #refuse(errors: readonly SubgraphError[], service: string): void {
    const { requestId } = this.request.context;
    const told = errors.map(({ message = 'The subgraph refused the subscription', path, extensions }): AnswerError => ({
      message,
      path,
      extensions: { ...extensions, service },
    }));
    this.#finishStream({ cause: 'refused', errors: finishErrors(told, requestId) });
  }

  #lose({ isUnauthorized, cause }: Loss, service: string): void {
    this.#options.log.warn('lost the source of a subscription', {
      requestId: this.request.context.requestId,
      subgraph: service,
      error: cause,
    });
    this.#endWith(
      isUnauthorized
        ? { cause: 'unauthorized', code: 'UNAUTHORIZED', message: 'The credential is no longer accepted' }
        : {
            cause: 'source-lost',
            code: 'UPSTREAM_ERROR',
            message: `The subgraph ${service} was lost: events may have been missed`,
            service,
          },
    );
  }

  #endWith({ cause, code, message, service }: Reason): void {
    const { requestId } = this.request.context;
    this.#finishStream({ cause, errors: [{ message, extensions: { code, ...(service && { service }), requestId } }] });
  }

  #finishStream(end: StreamEnd): void {
    this.#source?.close();
    this.#end ??= end;
    if (this.#work.size === 0) this.#close(this.#end);
  }

  #close(end: StreamEnd): void {
    const listeners = [...this.#listeners];
    this.#stop();
    for (const listener of listeners) listener.end(end);
  }

  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#source?.close();
    this.#options.counts.listeners -= this.#listeners.size;
    this.#listeners.clear();
    for (const { done } of this.#leaving.values()) done();
    this.#leaving.clear();
    this.#options.onOver();
  }
}

export interface Reason {
  readonly cause: StreamEnd['cause'];
  readonly code: string;
  readonly message: string;
  readonly service?: string;
}

/** Where events come from and what is asked for there; undefined when there is no such place. */
function addressOf({ snapshot, operation }: Serving): string | undefined {
  const { source } = operation.program;
  const upstream = source && snapshot.upstream(source.service);
  return upstream && [upstream.live.url, source.operation, source.operationName, ...source.variables].join('\n');
}

function pick(variables: Readonly<Record<string, unknown>>, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.flatMap((name) => (Object.hasOwn(variables, name) ? [[name, variables[name]]] : [])));
}
