/** Several workers of one gateway: what clients and operators notice of them, and what happens when one is killed. */
import { mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until, untilLogged } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { postAlone } from '../../stack/clients/own-connection.ts';
import { type SocketClient, openSocket } from '../../stack/clients/socket-client.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

let release: () => void = () => undefined;
const released = new Promise<void>((resolve) => (release = resolve));

async function* ticks() {
  yield { tick: 1 };
  await released;
  yield { tick: 2 };
}

const SOURCES = {
  books: {
    sdl: 'type Query { title: String slow: Int } type Subscription { tick: Int }',
    resolvers: { Query: { title: () => 'Emma', slow: () => 1 }, Subscription: { tick: { subscribe: ticks } } },
  },
};
const WORKERS = 2;
const MAX_SOCKETS = 8;
/** A worker that ended is replaced in this time, also under load. */
const REPLACED_MS = 5000;

let federation: Federation;
let folder: string;
let file: string;
let configuration: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-workers-'));
  file = join(folder, 'supergraph.graphql');
  configuration = join(folder, 'trestle.yaml');
  await writeFile(configuration, 'limits: { maxAliases: 5 }\n');
  const env = {
    MAX_SOCKETS: String(MAX_SOCKETS),
    RATE_LIMIT_ANONYMOUS_PER_MIN: '1000000',
    TRUSTED_PROXIES: '127.0.0.1',
    DRAIN_DELAY_MS: '200',
    REQUEST_DRAIN_MS: '60000',
  };
  federation = await startFederation(SOURCES, { env, args: ['--workers', String(WORKERS), '--config', configuration] });
  await writeFile(file, federation.supergraphSdl);
  await until(async () => (await countWorkers()) === WORKERS);
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

const countWorkers = () => readMetric(federation.gateway.url, 'trestle_workers');

/** Sends a request on a connection of its own. */
async function post(query: string, { url = federation.url, headers = {} }: { url?: string; headers?: Record<string, string> } = {}) {
  const { status, text, headers: received } = await postAlone(url, { body: { query }, headers });
  return { status, text, left: /;r=(\d+)/.exec(String(received['ratelimit'] ?? ''))?.[1] };
}

async function readChildren(pid: number): Promise<number[]> {
  const children = await readFile(`/proc/${String(pid)}/task/${String(pid)}/children`, 'utf8');
  return children
    .split(' ')
    .filter((each) => each !== '')
    .map(Number);
}

/** Returns the processor time of a process, in ticks. */
async function readTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${String(pid)}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

const pidOf = ({ gateway }: Federation) => Number(gateway.pid);

describe('a gateway with two workers', () => {
  it('has two processes below the one that was started, and both serve requests', async () => {
    const workers = await readChildren(pidOf(federation));
    expect(workers).toHaveLength(WORKERS);
    const before = await Promise.all(workers.map(readTicks));
    await until(async () => {
      await Promise.all(Array.from({ length: 50 }, () => post('{ title }')));
      const after = await Promise.all(workers.map(readTicks));
      return after.every((ticks, i) => ticks > Number(before[i]));
    });
  });

  it('serves one page of metrics, which adds up the counts of all workers', async () => {
    const name = 'trestle_graphql_request_duration_seconds_count{operation="Counted",status="200"}';
    for (let i = 0; i < 10; i++) await post('query Counted { title }');
    const pages = await Promise.all(Array.from({ length: 4 }, () => readMetric(federation.gateway.url, name)));
    expect(pages).toEqual([10, 10, 10, 10]);
    const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
    expect(text.match(/^# TYPE trestle_graphql_requests_in_flight /gm)).toHaveLength(1);
    expect(text).toMatch(/^trestle_supergraph_current 1$/m);
  });

  it('is ready, and both workers have the supergraph', async () => {
    const hashes = await Promise.all(
      Array.from({ length: 6 }, async () => (await request(`${federation.gateway.url}/readyz`, { method: 'GET' })).text),
    );
    expect(new Set(hashes).size).toBe(1);
    expect(hashes[0]).toContain('"status":"ready"');
  });

  it('serves a changed supergraph in every worker', async () => {
    const wider = federation.supergraphSdl.replace('title: String', 'title: String @deprecated(reason: "swapped")');
    expect(wider).not.toBe(federation.supergraphSdl);
    const read = () => post('{ __type(name: "Query") { fields(includeDeprecated: true) { deprecationReason } } }');
    await federation.replaceSupergraph(wider);
    await until(async () => {
      const replies = await Promise.all(Array.from({ length: 2 * WORKERS }, read));
      return replies.every(({ text }) => text.includes('swapped'));
    });
  });

  it('applies a changed configuration file in every worker, without a failed request', async () => {
    const read = async () => (await post('{ a: title b: title c: title }')).status;
    expect(await read()).toBe(200);
    await writeFile(`${configuration}.next`, 'limits: { maxAliases: 2 }\n');
    await rename(`${configuration}.next`, configuration);
    await until(async () => {
      const [plain, ...statuses] = await Promise.all([
        post('{ title }').then(({ status }) => status),
        ...Array.from({ length: 2 * WORKERS }, read),
      ]);
      expect(plain).toBe(200);
      return statuses.every((status) => status === 400);
    });
    const lines = () => federation.gateway.lines.filter((line) => line.includes('applied a changed configuration'));
    const workers = () => new Set(lines().map((line) => (JSON.parse(line) as { worker?: number }).worker));
    await until(() => Promise.resolve(workers().size === WORKERS));
  });

  it('accepts no more WebSockets in all workers together than the setting allows', async () => {
    const sockets: SocketClient[] = [];
    const open = async () => {
      const opened = await Promise.allSettled(Array.from({ length: MAX_SOCKETS }, () => openSocket(federation.url)));
      sockets.push(...opened.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])));
      return opened.every(({ status }) => status === 'rejected');
    };
    // A worker that has room may get none of a few connections.
    await until(async () => (await open()) && sockets.length >= MAX_SOCKETS);
    expect(sockets).toHaveLength(MAX_SOCKETS);
    await Promise.all(sockets.map((socket) => socket.close()));
  });

  it('replaces a worker that was killed within 5 s; the other one serves meanwhile, and no client waits without end', async () => {
    const [victim, other] = await readChildren(pidOf(federation));
    const killedAt = performance.now();
    process.kill(Number(victim), 'SIGKILL');
    // Connections of the killed worker are reset; each new request is served.
    await until(async () => {
      const results = await Promise.allSettled(Array.from({ length: 4 }, () => post('{ title }')));
      for (const result of results) if (result.status === 'fulfilled') expect(result.value).toMatchObject({ status: 200 });
      const workers = await readChildren(pidOf(federation));
      return workers.length === WORKERS && !workers.includes(Number(victim)) && (await countWorkers()) === WORKERS;
    });
    expect(performance.now() - killedAt).toBeLessThan(REPLACED_MS);
    expect(await readChildren(pidOf(federation))).toContain(other);
    await untilLogged(federation.gateway, 'a worker ended, and is replaced');
    expect((await Promise.all(Array.from({ length: 8 }, () => post('{ title }')))).map(({ status }) => status)).toEqual(Array(8).fill(200));
  });

  it('completes requests in flight and ends subscriptions in order when it is stopped, with exit code 0 in every worker', async () => {
    const subscribers = Array.from({ length: 4 }, () => subscribeTo(federation.gateway.url, { query: 'subscription { tick }' }));
    await Promise.all(subscribers.map((subscriber) => subscriber.wait(1)));
    let arrived = 0;
    let answer: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (answer = resolve));
    federation.intercept = ({ query }) => {
      if (!query.includes('slow')) return undefined;
      arrived++;
      return held.then(() => undefined);
    };
    const slow = Array.from({ length: 6 }, () => post('{ slow }'));
    await until(() => Promise.resolve(arrived === 6));
    const workers = await readChildren(pidOf(federation));
    const stopped = federation.gateway.end('SIGTERM');
    await until(() => Promise.resolve(federation.gateway.lines.filter((line) => line.includes('"msg":"stopping"')).length === WORKERS + 1));
    answer();
    expect((await Promise.all(slow)).map(({ text }) => text)).toEqual(Array(6).fill('{"data":{"slow":1}}'));
    release();
    await Promise.all(subscribers.map((subscriber) => subscriber.end()));
    await stopped;
    expect(federation.gateway.lines.join('\n')).not.toContain('did not stop cleanly');
    expect((await readdir('/proc')).filter((name) => workers.includes(Number(name)))).toEqual([]);
  });
});

describe('limits of two workers', () => {
  it.each([
    ['', {}],
    // Nothing listens there.
    [', also while Redis cannot be used', { REDIS_URL: 'redis://127.0.0.1:9' }],
  ])('count the requests of a client for both workers together%s', async (_, own) => {
    const args = ['--supergraph', file, '--port', '0', '--auth', 'off', '--workers', '2'];
    const gateway = await startGateway(args, { RATE_LIMIT_ANONYMOUS_PER_MIN: '20', ...own });
    try {
      const url = `${gateway.url}/graphql`;
      const replies = await Promise.all(Array.from({ length: 60 }, () => post('{ __typename }', { url })));
      const statuses = replies.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(20);
      expect(statuses.filter((status) => status === 429)).toHaveLength(40);
    } finally {
      await gateway.end('SIGTERM');
    }
  });

  it('refuse a response cache in memory, which a mutation would change in one worker only', async () => {
    const args = ['--supergraph', file, '--port', '0', '--auth', 'off', '--workers', '2'];
    await expect(startGateway(args, { RESPONSE_CACHE: 'memory' })).rejects.toThrow(
      /RESPONSE_CACHE: must be redis or off with several workers/,
    );
  });

  it.each(['0', '65', 'two', '1.5'])('name the value %s of WORKERS as invalid', async (value) => {
    const args = ['--supergraph', file, '--port', '0', '--auth', 'off', '--workers', value];
    await expect(startGateway(args)).rejects.toThrow(/WORKERS/);
  });

  it('end the whole gateway when its workers cannot start', async () => {
    const args = ['--supergraph', '/dev/null', '--port', '0', '--auth', 'off', '--workers', '2'];
    await expect(startGateway(args)).rejects.toThrow(/ended with 1/);
  });
});
