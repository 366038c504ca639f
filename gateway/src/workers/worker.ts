/** A worker's side of the channel to the primary: the counts of rate limits, the metrics of all workers, and the planner that they share. */
import type { SharedWindows } from '@trestle/limits/rate-limiter';
import type { Log } from '@trestle/log';
import type { Registry } from 'prom-client';
import type { AcceptedFiles } from '../configuration/file/accepted-files.ts';
import type { StartPlanner } from '../plan/threads/planner-thread.ts';
import type { FromPrimary, FromWorker } from './messages.ts';
import { PlannerChannel } from './planner-channel.ts';
import { createPrimaryWindows } from './primary-windows.ts';
import { createStartPlanner } from './remote-planner.ts';

const METRICS_TIMEOUT_MS = 5000;
const CONFIGURATION_TIMEOUT_MS = 3000;

/** What a worker gets from the primary. */
export interface Primary {
  /** Counts requests for all workers together. */
  readonly windows: SharedWindows;
  /** Names the registries of this worker, which the primary collects from then on. */
  readonly expose: (registries: readonly Registry[]) => void;
  /** Returns the metrics of all workers as text. Rejects when the primary does not reply in time. */
  readonly readMetrics: () => Promise<string>;
  /** Sends it the configuration files that this worker has applied: a worker that is started later applies them too. */
  readonly reportApplied: (files: AcceptedFiles) => void;
  /** Opens the planner of a supergraph that all workers share. */
  readonly startPlanner: StartPlanner;
}

/** The configuration files of a worker. */
export interface ReceivedConfiguration {
  /** Those with which every worker starts. */
  readonly accepted: AcceptedFiles;
  /** Those that the other workers have applied since; undefined for none. */
  readonly applied: AcceptedFiles | undefined;
}

/**
 * Resolves with the configuration files that the primary has; with undefined when it does not reply in time, as the primary of another program
 * that starts workers: the worker then reads the files itself.
 */
export function receiveConfiguration(): Promise<ReceivedConfiguration | undefined> {
  return new Promise((resolve) => {
    const end = (received: ReceivedConfiguration | undefined) => {
      clearTimeout(timer);
      process.off('message', receive);
      resolve(received);
    };
    const receive = (message: FromPrimary) => {
      if (message.kind === 'configuration') end(message);
    };
    const timer = setTimeout(end, CONFIGURATION_TIMEOUT_MS, undefined);
    process.on('message', receive);
    // A message that the primary sent on its own would be lost before this module is loaded.
    send({ kind: 'read configuration' });
  });
}

/** Listens to the primary of this worker. */
export function connectToPrimary(log: Log): Primary {
  const planner = new PlannerChannel(send);
  const rates = createPrimaryWindows(send);
  const waiting = new Map<number, (reply: FromPrimary | undefined) => void>();
  let own: readonly Registry[] = [];
  let last = 0;
  const ask = (toRequest: (id: number) => FromWorker, timeoutMs: number) =>
    new Promise<FromPrimary | undefined>((resolve) => {
      const id = ++last;
      const settle = (reply: FromPrimary | undefined) => {
        clearTimeout(timer);
        waiting.delete(id);
        resolve(reply);
      };
      const timer = setTimeout(() => {
        settle(undefined);
      }, timeoutMs);
      waiting.set(id, settle);
      send(toRequest(id));
    });
  process.on('message', (message: FromPrimary) => {
    switch (message.kind) {
      case 'configuration':
        return;
      case 'collect':
        void collect(own).then((metrics) => {
          send({ kind: 'collected', id: message.id, metrics });
        });
        return;
      case 'ping':
        send({ kind: 'pong' });
        return;
      case 'taken':
        rates.receive(message);
        return;
      case 'metrics':
        waiting.get(message.id)?.(message);
        return;
      default:
        planner.receive(message);
    }
  });
  return {
    startPlanner: createStartPlanner({ channel: planner, log }),
    reportApplied: (files) => {
      send({ kind: 'applied configuration', files });
    },
    windows: rates.windows,
    expose: (registries) => {
      own = registries;
    },
    readMetrics: async () => {
      const reply = await ask((id) => ({ kind: 'read metrics', id }), METRICS_TIMEOUT_MS);
      if (reply?.kind !== 'metrics') throw new Error('The primary process did not send the metrics in time.');
      return reply.text;
    },
  };
}

/** Failures are left to the end of the channel, with which the process ends. */
function send(message: FromWorker): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

async function collect(registries: readonly Registry[]): Promise<object[]> {
  const metrics = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON().catch(() => [])));
  return metrics.flat();
}
