/** Runs the honest client beside an attack. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface HonestTarget {
  readonly kind: 'bridge' | 'gateway' | 'control';
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
  /** The 99th percentile of requests to the control: the share of the machine. */
  readonly controlP99: number;
}

export interface HonestClient {
  /** Begins a measurement. */
  begin(): void;
  /** Ends it. */
  report(): Promise<HonestReport>;
  stop(): Promise<void>;
}

/** What it sends to, and from where. */
export interface HonestOptions {
  readonly targets: readonly HonestTarget[];
  readonly certificate: string | undefined;
  /** The number of addresses that it sends from in turn: one is a client with some 50 requests per second. */
  readonly clients: number;
}

/** Starts it; nothing is sent before `begin`. */
export function startHonestClient(options: HonestOptions): HonestClient {
  const child = fork(fileURLToPath(new URL('main.js', import.meta.url)), [JSON.stringify(options)]);
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
