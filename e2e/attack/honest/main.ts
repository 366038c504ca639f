/** The honest client, a process of its own: sends ordinary requests at a steady rate and reports their latency. */
import { type RequestOptions, Agent, request } from 'node:http';
import { Agent as TlsAgent, request as requestTls } from 'node:https';
import type { HonestOrder, HonestReport, HonestTarget } from './honest.ts';

const INTERVAL_MS = 20;
/** Another address than the attacker's, so that limits per address apply to each separately. */
const LOCAL_ADDRESS = '127.0.0.2';
const TIMEOUT_MS = 10_000;
const QUERY = JSON.stringify({ query: '{productsConnection(first:3){edges{node{id name price}}}}' });

const { targets, certificate } = JSON.parse(process.argv[2] ?? '{}') as { targets: HonestTarget[]; certificate?: string };
const agents = {
  plain: new Agent({ keepAlive: true }),
  tls: new TlsAgent({ keepAlive: true, ...(certificate !== undefined && { ca: certificate }) }),
};

let latencies: number[] = [];
/** When each request that has no answer yet was sent. */
let waiting = new Set<number>();
let failures = 0;
let timer: NodeJS.Timeout | undefined;
let turn = 0;

process.on('message', (order: HonestOrder) => {
  if (order === 'begin') {
    latencies = [];
    waiting = new Set();
    failures = 0;
    timer = setInterval(() => {
      const target = targets[turn++ % targets.length];
      if (target) void measure(target);
    }, INTERVAL_MS);
  } else {
    clearInterval(timer);
    process.send?.(report());
  }
});
process.on('disconnect', () => process.exit(0));

async function measure(target: HonestTarget): Promise<void> {
  const startedAt = performance.now();
  const batch = latencies;
  waiting.add(startedAt);
  const isOk = await send(target);
  // An answer that belongs to an earlier measurement counts nowhere.
  if (batch !== latencies) return;
  waiting.delete(startedAt);
  batch.push(performance.now() - startedAt);
  if (!isOk) failures++;
}

function send({ kind, host, port, isTls }: HonestTarget): Promise<boolean> {
  const options: RequestOptions = {
    host,
    port,
    localAddress: LOCAL_ADDRESS,
    agent: isTls ? agents.tls : agents.plain,
    timeout: TIMEOUT_MS,
    ...(isTls && { servername: 'localhost' }),
    ...(kind === 'bridge'
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
    sent.end(kind === 'bridge' ? undefined : QUERY);
  });
}

function report(): HonestReport {
  // One that still waits has waited this long at least.
  const sorted = [...latencies, ...[...waiting].map((startedAt) => performance.now() - startedAt)].sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { count: sorted.length, failures, p50: at(0.5), p99: at(0.99) };
}
