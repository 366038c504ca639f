/** Runs the marked load against a gateway process of its own. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Vitals, startGatewayProcess } from './gateway-process.ts';
import { type LoadReport, runLoad } from './load.ts';
import { startStub } from './stub.ts';
import { composeWorld } from './world.ts';

export interface MarkerOptions {
  readonly clients: number;
  /** The run ends after this time, this CPU time of the gateway, or so many responses. Default: no limit. */
  readonly seconds?: number;
  readonly cpuSeconds?: number;
  readonly responses?: number;
  /** Ends the run when it is aborted. */
  readonly signal?: AbortSignal;
  /** Whether the gateway overwrites the memory of a request when it is released. */
  readonly isOverwriting: boolean;
  /** Called about once a second. */
  readonly onSample?: (vitals: Vitals, elapsedMs: number) => void;
}

export interface MarkerReport extends LoadReport {
  readonly paths: ReadonlyMap<string, number>;
  /** What the subgraphs noticed, and exceptions in the gateway. */
  readonly faultsNoticed: readonly string[];
  readonly elapsedMs: number;
  readonly cpuMs: number;
  readonly memory: readonly number[];
}

const SUBGRAPH_TIMEOUT_MS = 8000;
const SAMPLE_MS = 1000;

/** Runs the load and resolves with what was found. */
export async function runMarkers(options: MarkerOptions): Promise<MarkerReport> {
  const { clients, seconds = Infinity, cpuSeconds = Infinity, responses = Infinity, signal, isOverwriting, onSample } = options;
  const home = await mkdtemp(join(tmpdir(), 'trestle-markers-'));
  const stub = await startStub({ timeoutMs: SUBGRAPH_TIMEOUT_MS });
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(supergraph, composeWorld(stub.urls));
  try {
    const gateway = await startGatewayProcess(supergraph, {
      MAX_BATCH: '5',
      MAX_COST: '10000000',
      MAX_CONNECTIONS_PER_ADDRESS: '10000',
      SUBGRAPH_TIMEOUT_MS: String(SUBGRAPH_TIMEOUT_MS),
      // A machine that pauses lets many responses come too late; an open circuit would fail requests whose responses have no fault.
      SUBGRAPH_BREAKER_FAILURES: '0',
      OVERWRITE_MEMORY: isOverwriting ? 'on' : 'off',
      OPERATION_DEDUPLICATION: isOverwriting ? 'on' : 'off',
    });
    try {
      const startedAt = performance.now();
      const memory: number[] = [];
      const elapsed = () => performance.now() - startedAt;
      let last = gateway.vitals();
      const sampler = setInterval(() => {
        if (gateway.exceptions.length > 0) return;
        last = gateway.vitals();
        memory.push(last.rssBytes);
        onSample?.(last, elapsed());
      }, SAMPLE_MS);
      const isOver = (count: number) =>
        signal?.aborted === true ||
        elapsed() > seconds * 1000 ||
        last.cpuMs > cpuSeconds * 1000 ||
        count >= responses ||
        gateway.exceptions.length > 0;
      const report = await runLoad({ url: gateway.url, clients, isOver });
      clearInterval(sampler);
      const paths = await gateway.countPaths().catch(() => new Map<string, number>());
      return { ...report, paths, faultsNoticed: [...stub.faults, ...gateway.exceptions], elapsedMs: elapsed(), cpuMs: last.cpuMs, memory };
    } finally {
      await gateway.stop();
    }
  } finally {
    await stub.stop();
    await rm(home, { recursive: true, force: true });
  }
}
