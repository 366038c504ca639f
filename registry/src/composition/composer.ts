/** Composes in a thread, so that the process goes on to serve: one task at a time, bounded in time and memory. The thread ends when it is idle. */
import { Worker } from 'node:worker_threads';
import { fail } from '@trestle/schema/errors';
import type { ContractsTask, MadeContract } from './contract-task.ts';
import type { InvalidOperation } from '../records.ts';
import type { ComposeOutcome, ComposeReply, ComposeTask, Outcome, Task } from './compose-task.ts';
import type { ValidationTask } from './invalid-operations.ts';
import { createTurns } from './turns.ts';

/** Tests, which run this file as TypeScript, start the bundle: it loads in a third of the time. */
const FILE = import.meta.url.endsWith('.ts') ? 'dist/bundle/compose-worker.js' : 'dist/composition/compose-worker.js';
const WORKER = new URL(`../../${FILE}`, import.meta.url);
const TIMEOUT_MS = 60_000;
const IDLE_MS = 30_000;
const MAX_WAITING = 50;
const LIMITS = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 64, stackSizeMb: 8 };

/** Composes in its thread. */
export interface Composer {
  /**
   * Resolves with the composed graph, or why there is none. Rejects with VALIDATION_ERROR when the task takes too much time or memory, and with
   * SERVICE_UNAVAILABLE when too many tasks wait, or when the composer is closed meanwhile.
   */
  compose(task: ComposeTask): Promise<ComposeOutcome>;
  /** Resolves with the contracts in the order of the task, or why one cannot be made. Rejects as `compose`. */
  makeContracts(task: ContractsTask): Promise<readonly MadeContract[]>;
  /** Resolves with those of the operations that are not valid. Rejects as `compose`. */
  validate(task: ValidationTask): Promise<readonly InvalidOperation[]>;
  /** Ends the thread. What is being composed rejects. */
  close(): Promise<void>;
}

/** Times of a composer, in milliseconds. */
export interface ComposerOptions {
  /** How long one task may take; default: a minute. */
  readonly timeoutMs?: number;
  /** How long the thread is kept without a task; default: 30 s. */
  readonly idleMs?: number;
}

/** Creates the composer. The thread starts with the first task. */
export function createComposer({ timeoutMs = TIMEOUT_MS, idleMs = IDLE_MS }: ComposerOptions = {}): Composer {
  let worker: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  const takeTurn = createTurns(MAX_WAITING);

  const end = async () => {
    const ended = worker;
    worker = undefined;
    clearTimeout(idle);
    await ended?.terminate();
  };
  const start = () => {
    const started = startWorker(() => {
      // A thread that was ended may exit after the next one has started.
      if (worker === started) worker = undefined;
    });
    return started;
  };
  const run = async (task: Task): Promise<Outcome> => {
    clearTimeout(idle);
    worker ??= start();
    try {
      return await ask(worker, task, timeoutMs);
    } catch (error) {
      await end();
      throw error;
    } finally {
      idle = setTimeout(() => void end(), idleMs).unref();
    }
  };
  return {
    compose: (task) => takeTurn(() => run(task) as Promise<ComposeOutcome>),
    makeContracts: (task) => takeTurn(() => run(task) as Promise<readonly MadeContract[]>),
    validate: (task) => takeTurn(() => run(task) as Promise<readonly InvalidOperation[]>),
    close: end,
  };
}

/** It gets no environment: no addresses, and no secrets. */
function startWorker(onExit: () => void): Worker {
  const worker = new Worker(WORKER, { resourceLimits: LIMITS, env: {}, stdout: true, stderr: true });
  for (const output of [worker.stdout, worker.stderr]) output.resume();
  // An error without a listener would end the process.
  worker.on('error', () => undefined).once('exit', onExit);
  worker.unref();
  return worker;
}

function ask(worker: Worker, task: Task, timeoutMs: number): Promise<Outcome> {
  const { promise, resolve, reject } = withResolvers<Outcome>();
  const refuse = (reason: string) => {
    reject(fail('VALIDATION_ERROR', `The schemas cannot be composed: ${reason}.`));
  };
  const timer = setTimeout(() => {
    refuse(`the composition took longer than ${String(timeoutMs / 1000)} s`);
  }, timeoutMs);
  const onReply = (reply: ComposeReply) => {
    if (reply.kind === 'outcome') resolve(reply.outcome);
    else refuse(`the composer failed with "${reply.reason}"`);
  };
  const onError = () => {
    refuse('the composition needs too much memory');
  };
  // A thread that lacks memory emits `error` first.
  const onExit = () => {
    reject(fail('SERVICE_UNAVAILABLE', 'The registry stops. Retry after 1 second.', { retryAfterSeconds: 1 }));
  };
  worker.on('message', onReply).on('error', onError).on('exit', onExit);
  worker.postMessage(task);
  return promise.finally(() => {
    clearTimeout(timer);
    worker.off('message', onReply).off('error', onError).off('exit', onExit);
  });
}

/** Promise.withResolvers, which Node.js has from 22 on. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((onResolve, onReject) => {
    [resolve, reject] = [onResolve, onReject];
  });
  return { promise, resolve, reject };
}
