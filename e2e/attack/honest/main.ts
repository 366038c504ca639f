/** The honest client, a process of its own: sends ordinary requests at a steady rate and reports their latency. */
import { type RequestOptions, Agent, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import type { HonestOptions, HonestOrder, HonestReport, HonestTarget } from './honest.ts';

const INTERVAL_MS = 14;

const TIMEOUT_MS = 10_000;
const QUERY = JSON.stringify({ query: '{productsConnection(first:3){edges{node{id name price}}}}' });

const { targets, certificate, clients } = JSON.parse(process.argv[2] ?? '{}') as HonestOptions;
/** Other addresses than the attacker's, so that limits per address apply to each separately. */
const localAddresses = Array.from({ length: clients }, (_, i) => `127.0.1.${i + 1}`);
const agents = {
  plain: new Agent({ keepAlive: true }),
  tls: new TlsAgent({ keepAlive: true, ...(certificate !== undefined && { ca: certificate }) }),
};

/** The requests of one measurement to the system or to the control. */
interface Batch {
  readonly latencies: number[];
  /** When each request that has no answer yet was sent. */
  readonly waiting: Set<number>;
  failures: number;
}
const createBatch = (): Batch => ({ latencies: [], waiting: new Set(), failures: 0 });

let system = createBatch();
let control = createBatch();
let timer: NodeJS.Timeout | undefined;
let turn = 0;

process.on('message', (order: HonestOrder) => {
  if (order === 'begin') {
    system = createBatch();
    control = createBatch();
    timer = setInterval(() => {
      const target = targets[turn++ % targets.length];
      if (target) void measure(target, target.kind === 'control' ? control : system);
    }, INTERVAL_MS);
  } else {
    clearInterval(timer);
    process.send?.(report());
  }
});
process.on('disconnect', () => process.exit(0));

/** A response that arrives after the measurement counts as one that waited until its end. */
async function measure(target: HonestTarget, batch: Batch): Promise<void> {
  const startedAt = performance.now();
  batch.waiting.add(startedAt);
  const isOk = await send(target);
  batch.waiting.delete(startedAt);
  batch.latencies.push(performance.now() - startedAt);
  if (!isOk) batch.failures++;
}

function send({ kind, host, port, isTls }: HonestTarget): Promise<boolean> {
  const options: RequestOptions = {
    host,
    port,
    localAddress: localAddresses[Math.floor(turn / targets.length) % clients],
    agent: isTls ? agents.tls : agents.plain,
    timeout: TIMEOUT_MS,
    ...(isTls && { servername: 'localhost' }),
    ...(kind !== 'gateway'
      ? { path: '/v1/products?limit=3' }
      : { path: '/graphql', method: 'POST', headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(QUERY) } }),
  };
  return new Promise((resolve) => {
    const sent = (isTls ? requestTls : request)(options, (response) => {
      response.resume();
      response.once('end', () => {
        resolve(response.statusCode === 200);
      });
      response.once('error', () => {
        resolve(false);
      });
    });
    sent.once('timeout', () => sent.destroy());
    sent.once('error', () => {
      resolve(false);
    });
    sent.end(kind === 'gateway' ? QUERY : undefined);
  });
}

function report(): HonestReport {
  const all = sortLatencies(system);
  return {
    count: all.length,
    failures: system.failures,
    p50: at(all, 0.5),
    p99: at(all, 0.99),
    controlP99: at(sortLatencies(control), 0.99),
  };
}

/** One that still waits has waited this long at least. */
function sortLatencies({ latencies, waiting }: Batch): number[] {
  return [...latencies, ...[...waiting].map((startedAt) => performance.now() - startedAt)].sort((a, b) => a - b);
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
