/** Restarts two gateways and two bridges behind proxies, one after the other, while clients send requests. */
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { type Reply, request } from './clients/client.ts';
import { type Front, startFront } from './processes/front.ts';
import type { RunningProcess } from './processes/process.ts';
import type { Account, Stack } from './stack.ts';

export interface RollReport {
  readonly reads: number;
  readonly writes: number;
  /** What was answered otherwise than it should have been. */
  readonly failures: readonly string[];
}

export interface RollOptions {
  readonly stack: Pick<Stack, 'startGateway' | 'startBridge'>;
  readonly author: Account;
  /** How often all four processes are restarted. */
  readonly rolls: number;
  readonly clients: number;
  /** Milliseconds for which a process continues to serve after SIGTERM. */
  readonly delayMs: number;
  readonly isNginx?: boolean;
  readonly onRoll?: (roll: number, soFar: RollReport) => void;
}

/** Resolves when all rolls are done and each request has its answer. The writes create posts of the author: one each. */
export async function rollUnderLoad({ stack, author, rolls, clients, delayMs, isNginx, onRoll }: RollOptions): Promise<RollReport> {
  const settings = { DRAIN_DELAY_MS: String(delayMs) };
  // A busy machine answers late.
  const gatewaySettings = { ...settings, REQUEST_DRAIN_MS: '8000' };
  const front = (processes: readonly RunningProcess[]): Promise<Front> =>
    startFront(
      processes.map(({ port }) => port),
      isNginx === undefined ? {} : { isNginx },
    );
  const startGateway = (port: number) => stack.startGateway({ ...gatewaySettings, GATEWAY_PORT: String(port) });
  const gateways = [await startGateway(await reserveTestPort()), await startGateway(await reserveTestPort())];
  const gatewayFront = await front(gateways);
  const startBridge = (port: number) =>
    stack.startBridge({ ...settings, REST_PORT: String(port), GATEWAY_URL: `${gatewayFront.url}/graphql` });
  const bridges = [await startBridge(await reserveTestPort()), await startBridge(await reserveTestPort())];
  const bridgeFront = await front(bridges);
  const load = startLoad(bridgeFront.url, { token: author.token, clients });
  try {
    for (let roll = 1; roll <= rolls; roll++) {
      for (const [processes, start] of [
        [gateways, startGateway],
        [bridges, startBridge],
      ] as const)
        for (const [at, process] of processes.entries()) {
          await process.end('SIGTERM');
          processes[at] = await start(process.port);
        }
      onRoll?.(roll, load.report);
    }
  } finally {
    await load.stop();
    await bridgeFront.stop();
    await gatewayFront.stop();
  }
  return load.report;
}

function startLoad(url: string, { token, clients }: { token: string; clients: number }) {
  const report = { reads: 0, writes: 0, failures: [] as string[] };
  let isOver = false;
  const send = async (method: 'GET' | 'POST', expected: number) => {
    const began = performance.now();
    const body = method === 'POST' ? { title: 'Rolling', body: 'Nothing is lost' } : undefined;
    const reply: Pick<Reply, 'status' | 'text'> = await request(`${url}/v1/posts${method === 'GET' ? '?limit=1' : ''}`, {
      method,
      body,
      token,
    }).catch((error: unknown) => ({ status: 0, text: String((error as Error).cause ?? error) }));
    if (reply.status !== expected) {
      const milliseconds = Math.round(performance.now() - began);
      report.failures.push(`${method} after ${String(milliseconds)} ms: ${String(reply.status)} ${reply.text.slice(0, 200)}`);
    }
  };
  const run = async () => {
    while (!isOver) {
      await send('POST', 201);
      report.writes++;
      await send('GET', 200);
      report.reads++;
    }
  };
  const running = Array.from({ length: clients }, run);
  return {
    report,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}
