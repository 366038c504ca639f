/**
 * The primary process of several workers: it starts and replaces them, plans for them, counts requests for their rate limits, and joins
 * their metrics.
 */
import cluster, { type Worker } from 'node:cluster';
import { createSlidingWindows } from '@trestle/limits/sliding-windows';
import type { Log } from '@trestle/log';
import type { AcceptedFiles } from '../configuration/file/accepted-files.ts';
import { collectMetrics } from './collect-metrics.ts';
import { takeAndGrant } from './grant-units.ts';
import { closeLostConnections } from './handed-connections.ts';
import type { FromPrimary, FromWorker } from './messages.ts';
import { SharedPlanners } from './shared-planners.ts';
import { watchWorker } from './watch-worker.ts';

/** A worker that ended sooner after its start is replaced after a pause, because the next one may end as soon. */
const STABLE_MS = 5000;
const PAUSE_MS = 1000;

export interface WorkersOptions {
  readonly count: number;
  /** The configuration files with which every worker starts. */
  readonly accepted: AcceptedFiles;
  readonly log: Log;
}

/**
 * Starts the workers. Resolves with the function that stops them, once all listen; rejects when one ends before. Later a worker that ends is replaced,
 * until the stop. The stop rejects when a worker does not stop cleanly.
 */
export async function startWorkers({ count, accepted, log }: WorkersOptions): Promise<() => Promise<void>> {
  // Metrics may have values that JSON has not.
  cluster.setupPrimary({ serialization: 'advanced' });
  const planners = new SharedPlanners(log);
  const answer = createAnswer({ log, planners, accepted });
  let phase: 'starting' | 'serving' | 'stopping' = 'starting';
  const fork = () => {
    const worker = cluster.fork();
    closeLostConnections(worker);
    const startedAt = performance.now();
    const hear = watchWorker(worker, send, log);
    worker.on('message', (message: FromWorker) => {
      if (message.kind === 'pong') hear();
      else answer(worker, message);
    });
    worker.on('error', (error) => {
      log.error('a message to a worker failed', { worker: worker.id, error });
    });
    worker.on('exit', (code, signal) => {
      planners.release(worker);
      if (phase !== 'serving') return;
      log.error('a worker ended, and is replaced', { worker: worker.id, signal: describeExit(code, signal) });
      const wasStable = performance.now() - startedAt >= STABLE_MS;
      setTimeout(replace, wasStable ? 0 : PAUSE_MS);
    });
    return worker;
  };
  const replace = () => {
    if (phase === 'serving') fork();
  };
  process.once('exit', killWorkers);
  await Promise.all(Array.from({ length: count }, () => untilListening(fork())));
  phase = 'serving';
  for (let missing = count - listWorkers().length; missing > 0; missing--) fork();
  log.info('all workers listen', { count });
  return async () => {
    phase = 'stopping';
    await Promise.all(listWorkers().map(stop));
  };
}

function describeExit(code: number, signal: string | null): string {
  return signal ?? `code ${String(code)}`;
}

function listWorkers(): Worker[] {
  return Object.values(cluster.workers ?? {}).filter((worker): worker is Worker => worker !== undefined && !worker.isDead());
}

/** A worker that computes without end does not notice that its primary has ended, and would remain. */
function killWorkers(): void {
  for (const worker of listWorkers()) worker.process.kill('SIGKILL');
}

function untilListening(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('listening', () => {
      resolve();
    });
    worker.once('exit', (code, signal) => {
      reject(new Error(`A worker ended at its start with ${describeExit(code, signal)}`));
    });
  });
}

/** Resolves when the worker has drained and ended; SIGTERM itself ends one that does not serve yet. Rejects when it ended in another way. */
function stop(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.once('exit', (code, signal) => {
      if (code === 0 || signal === 'SIGTERM') resolve();
      else reject(new Error(`Worker ${String(worker.id)} ended with ${describeExit(code, signal)}`));
    });
    worker.process.kill('SIGTERM');
  });
}

interface AnswerParts extends Pick<WorkersOptions, 'log' | 'accepted'> {
  readonly planners: SharedPlanners;
}

/** Returns what handles the messages of workers. */
function createAnswer({ log, planners, accepted }: AnswerParts): (worker: Worker, message: Exclude<FromWorker, { kind: 'pong' }>) => void {
  const windows = createSlidingWindows();
  const metrics = collectMetrics(listWorkers, send);
  let applied: AcceptedFiles | undefined;
  return (worker, message) => {
    switch (message.kind) {
      case 'read configuration':
        send(worker, { kind: 'configuration', accepted, applied });
        return;
      case 'applied configuration':
        applied = message.files;
        return;
      case 'take':
        send(worker, { kind: 'taken', id: message.id, counts: message.takes.map((take) => takeAndGrant(windows, take)) });
        return;
      case 'refund':
        windows.refund(message.key, message.units, message.slot);
        return;
      case 'read metrics':
        metrics.read().then(
          (text) => {
            send(worker, { kind: 'metrics', id: message.id, text });
          },
          (error: unknown) => {
            log.error('the metrics of the workers could not be joined', { error });
          },
        );
        return;
      case 'collected':
        metrics.add(worker, message);
        return;
      default:
        planners.handle({ id: worker.id, send: sendTo(worker) }, message);
    }
  };
}

/** A worker that has ended meanwhile gets nothing. */
function send(worker: Worker, message: FromPrimary, onSent: () => void = () => undefined): void {
  if (worker.isConnected()) worker.process.send(message, undefined, undefined, onSent);
  else onSent();
}

function sendTo(worker: Worker) {
  return (message: FromPrimary, onSent: () => void) => {
    send(worker, message, onSent);
  };
}
