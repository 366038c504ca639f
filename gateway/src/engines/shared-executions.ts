/**
 * Executes a query once while equal ones are in flight, and gives the result to all of them. Equal are the operation, its variables, the caller, and all
 * headers that subgraphs get, but for those that name the single request. Where single fetches are kept, so is the client's network.
 */
import { Cancellation, OperationExpired } from '@trestle/service/process/cancellation';
import { Counter, type Registry } from 'prom-client';
import type { BufferPool } from '../execute/buffer-pool.ts';
import type { Hooks } from '../extensions/compile-hooks.ts';
import { mayChangeFetches } from '../extensions/may-change-fetches.ts';
import type { Operation } from '../program/operation.ts';
import type { RequestContext } from '../request/context.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { CheckedOperation } from './check-planned.ts';
import type { Ending } from './write-executed.ts';

/** In UTF-16 code units. To compare more costs more than it can save. */
const MAX_KEY_LENGTH = 64 * 1024;
/** The header that names the single request. */
const REQUEST_ID = 'x-request-id';

/**
 * Gets the result of the execution that a query waits for. Undefined when that result is only for its own client, or when the time limit of the waiting
 * query has passed: then the query executes itself.
 */
type GetResult = (ending: Ending | undefined) => void;

/** The queries that are executed, of one graph. */
export class SharedExecutions {
  #byOperation = new WeakMap<Operation, Map<string, SharedExecution>>();
  readonly #shared: Counter;
  readonly #hasKeptParts: boolean;

  /**
   * With `hasKeptParts` an execution may use results of fetches that were kept before a mutation of another client. That client is not to get them, and
   * an anonymous one is known by its network alone.
   */
  constructor(metrics: Registry, { hasKeptParts = false }: { readonly hasKeptParts?: boolean } = {}) {
    this.#hasKeptParts = hasKeptParts;
    this.#shared = new Counter({
      name: 'trestle_shared_executions_total',
      help: 'Queries that waited for the result of an equal query in flight.',
      registers: [metrics],
    });
  }

  /**
   * Returns the execution that the caller must run and settle, with its context; undefined when an equal one is in flight: then `wait` is called once with
   * its result.
   */
  begin({ operation, conditions }: CheckedOperation, context: RequestContext, wait: GetResult): SharedExecution | undefined {
    const key = `${this.#hasKeptParts ? (context.client ?? '') : ''}\n${toKey(context, conditions)}`;
    const equal = this.#byOperation.get(operation) ?? new Map<string, SharedExecution>();
    this.#byOperation.set(operation, equal);
    const known = equal.get(key);
    if (known) {
      this.#shared.inc();
      known.wait(context, wait);
      return undefined;
    }
    const execution: SharedExecution = new SharedExecution(context, () => {
      if (equal.get(key) === execution) equal.delete(key);
    });
    if (key.length <= MAX_KEY_LENGTH) equal.set(key, execution);
    // Its client may have disconnected already, which ends the sharing.
    execution.addClient(context);
    return execution;
  }

  /** Lets no later query get the result of one that has begun: what it reads may have changed since. */
  forget(): void {
    this.#byOperation = new WeakMap();
  }
}

/**
 * Whether the result of an execution may be that of others: reports, files and later parts belong to one request, and so do headers that an extension
 * sets for each fetch.
 */
export function isShareable(
  { operation }: CheckedOperation,
  { context, reports, incremental }: OperationRequest,
  hooks: Pick<Hooks, 'onSubgraphRequest'>,
): boolean {
  if (mayChangeFetches(context, hooks)) return false;
  const isWhole = operation.deferred === undefined || incremental === undefined;
  return operation.program.kind === 'query' && isWhole && !context.upload && !reports.plan && !reports.cost && !reports.supergraph;
}

/** The identity has what is no header, too: labels of `@override`. */
function toKey({ caller, headers, identity }: RequestContext, conditions: Readonly<Record<string, unknown>>): string {
  let key = `${caller ? `${caller.userId}\n${caller.tokenId}` : ''}\n${JSON.stringify(identity)}`;
  for (let i = 0; i < headers.length; i += 2) if (headers[i] !== REQUEST_ID) key += `\n${headers[i] as string}:${headers[i + 1] as string}`;
  return `${key}\n\n${JSON.stringify(conditions)}`;
}

/** One execution, and the requests that wait for its result. */
export class SharedExecution {
  /** That of the request that began it. It is cancelled when all clients have disconnected. */
  readonly context: RequestContext;
  readonly #onEnd: () => void;
  readonly #waiting = new Map<GetResult, RequestContext>();
  #clients = 0;

  /** `onEnd` is called when no other request can join any more. */
  constructor(context: RequestContext, onEnd: () => void) {
    this.context = { ...context, cancellation: new Cancellation() };
    this.#onEnd = onEnd;
  }

  /** Calls back once, when the execution has ended. */
  wait(context: RequestContext, wait: GetResult): void {
    this.#waiting.set(wait, context);
    this.addClient(context, (reason) => {
      if (reason instanceof OperationExpired && this.#waiting.delete(wait)) wait(undefined);
    });
  }

  /**
   * Must be called once, with the result. Only a complete one is for others: errors name one request, and headers of subgraphs may be meant for one client.
   * Returns the result for the request that began the execution.
   */
  settle(ending: Ending, buffers: BufferPool): Ending {
    this.#onEnd();
    if (this.#waiting.size === 0) return ending;
    const isForOthers = ending.outcome === 'complete' && !this.context.fetchLog.hasForwarded;
    const own = isForOthers ? withOwnBytes(ending, buffers) : ending;
    for (const [wait, context] of this.#waiting) {
      if (isForOthers) context.fetchLog.adopt(this.context.fetchLog);
      // Later: what they do is not part of this request.
      process.nextTick(wait, isForOthers ? own : undefined);
    }
    this.#waiting.clear();
    return own;
  }

  /** Adds a client that the execution goes on for. `onLeave` is called when it has disconnected, or when its time limit has passed. */
  addClient({ cancellation }: RequestContext, onLeave?: (reason: Error) => void): void {
    this.#clients++;
    cancellation.add({
      abort: (reason) => {
        if (--this.#clients === 0) {
          this.#onEnd();
          this.context.cancellation.cancel();
        }
        onLeave?.(reason);
      },
    });
  }
}

/** Returns the result in memory that belongs to no pool, so that it can be sent several times. */
function withOwnBytes(ending: Ending, buffers: BufferPool): Ending {
  const { bytes, length } = ending;
  const copy = Buffer.allocUnsafeSlow(length);
  bytes.copy(copy, 0, 0, length);
  if (buffers.isPooled(bytes)) buffers.give(bytes);
  return { ...ending, bytes: copy, isShared: true };
}
