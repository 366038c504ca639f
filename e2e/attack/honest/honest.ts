/** Runs the honest client beside an attack. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface HonestTarget {
  readonly kind: 'bridge' | 'gateway';
  readonly host: string;
  readonly port: number;
  readonly isTls: boolean;
}

export type HonestOrder = 'begin' | 'report';

/** Latencies in milliseconds. */
export interface HonestReport {
  readonly count: number;
  readonly failures: number;
  readonly p50: number;
  readonly p99: number;
}

export interface HonestClient {
  /** Begins a measurement. */
  begin(): void;
  /** Ends it. */
  report(): Promise<HonestReport>;
  stop(): Promise<void>;
}

/** Starts it; nothing is sent before `begin`. */
export function startHonestClient(targets: readonly HonestTarget[], certificate?: string): HonestClient {
  const child = fork(fileURLToPath(new URL('main.js', import.meta.url)), [JSON.stringify({ targets, certificate })]);
  const order = (what: HonestOrder) => child.send(what);
  return {
    begin: () => {
      order('begin');
    },
    async report() {
      order('report');
      const [report] = (await once(child, 'message')) as [HonestReport];
      return report;
    },
    stop: () => stop(child),
  };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
}
