/**
 * Processes are killed at random points of uploads and publications (ADR 26, ADR 27): what was acknowledged is stored whole, each publication takes
 * effect once, and no file is left over. `UPLOAD_CRASH_KILLS` sets how many times.
 */
import { createHash, randomInt } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import { type Account, type Stack, startStack } from '../../stack/stack.ts';
import { type Acknowledged, CrashClients } from './crash-clients.ts';

/** One kill in so many is of gateway and bridge; the others are of the subgraph. */
const EDGE_EVERY = 4;
const KILLS = Number(process.env['UPLOAD_CRASH_KILLS'] ?? EDGE_EVERY);
const SWEEP_AFTER_SECONDS = 2;

let stack: Stack;
let ada: Account;
let edge: { readonly gateway: RunningProcess; readonly bridge: RunningProcess };
let clients: CrashClients | undefined;
let acknowledged: Acknowledged;

beforeAll(async () => {
  stack = await startStack({ env: { FILES_SWEEP_AFTER_SECONDS: String(SWEEP_AFTER_SECONDS), JOB_HEARTBEAT_MS: '300' } });
  ada = await stack.createAccount('Ada');
  edge = await startEdge();
  clients = new CrashClients({ rest: () => edge.bridge.url, author: ada });
  ({ acknowledged } = clients);
}, 120_000);
afterAll(async () => {
  await clients?.stop();
  await stack.stop();
});

async function startEdge(): Promise<typeof edge> {
  const gateway = await stack.startGateway();
  return { gateway, bridge: await stack.startBridge({ GATEWAY_URL: `${gateway.url}/graphql` }) };
}

async function killEdge(): Promise<void> {
  await Promise.all([edge.gateway.end('SIGKILL'), edge.bridge.end('SIGKILL')]);
  edge = await startEdge();
}

async function killContent(): Promise<void> {
  await stack.kill('content');
  await stack.revive('content');
}

/** Waits until something more was acknowledged, so that the next kill comes amid work. */
async function proceed(): Promise<void> {
  const before = acknowledged.count;
  await until(() => Promise.resolve(acknowledged.count > before + 1));
}

interface Row {
  readonly id: string;
  readonly fileKey: string;
  readonly sha256: string;
  readonly status: string;
  readonly version: number;
  readonly posterKey: string | null;
}
const readRows = () => stack.sql<Row>('content', 'SELECT id, "fileKey", sha256, status, version, "posterKey" FROM videos ORDER BY id');
const pathOf = ({ id }: Row) => `/v1/videos/${id}`;
const root = () => join(stack.files, 'content');

/** Returns the keys of all files, also of those that were not completed. */
async function listFiles(): Promise<string[]> {
  const entries = await readdir(root(), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root().length + 1))
    .sort();
}

async function hashFile(key: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(join(root(), key)), hash);
  return hash.digest('hex');
}

describe('uploads and publications while processes are killed', () => {
  it(
    'go on after each kill, and no acknowledged byte of a resumable upload is asked for again',
    async () => {
      for (let kill = 1; kill <= KILLS; kill++) {
        await proceed();
        // The kill comes at any point of what is in flight.
        await delay(randomInt(150));
        await (kill % EDGE_EVERY === 0 ? killEdge() : killContent());
      }
      await proceed();
      await clients?.stop();
      expect(acknowledged.violations).toEqual([]);
    },
    60_000 + 40_000 * KILLS,
  );

  it('have stored every acknowledged video whole, and serve no other content than what was sent', async () => {
    const rows = await readRows();
    const byPath = new Map(rows.map((row) => [pathOf(row), row.sha256]));
    const { videos } = acknowledged;
    expect([...videos].filter(([path, sha256]) => byPath.get(path) !== sha256)).toEqual([]);
    // One that was not acknowledged may be stored too, and is whole then.
    for (const { fileKey, sha256 } of rows) expect(await hashFile(fileKey)).toBe(sha256);
    for (const row of rows) {
      const response = await fetch(`${stack.rest}${pathOf(row)}/content`, { headers: { authorization: `Bearer ${ada.token}` } });
      const content = Buffer.from(await response.arrayBuffer());
      expect([response.status, createHash('sha256').update(content).digest('hex')]).toEqual([200, row.sha256]);
    }
  });

  it('have published each video once for which that was acknowledged', async () => {
    const paths = [...acknowledged.jobs.keys()];
    const readPublished = async () => (await readRows()).filter((row) => acknowledged.jobs.has(pathOf(row)));
    await until(async () => (await readPublished()).every(({ status }) => status === 'PUBLISHED'));
    const published = await readPublished();
    // One version for each change: uploaded, publishing, published.
    expect(published.map((row) => [pathOf(row), row.version])).toEqual(paths.sort().map((path) => [path, 3]));
    const jobs = await stack.sql<{ id: string; status: string; path: string }>(
      'content',
      `SELECT id, status, '/v1/videos/' || "subjectId" AS path FROM jobs ORDER BY "subjectId"`,
    );
    const own = jobs.filter(({ path }) => acknowledged.jobs.has(path));
    expect(own).toEqual(paths.map((path) => ({ id: acknowledged.jobs.get(path), status: 'SUCCEEDED', path })));
    const events = await stack.sql<{ path: string }>(
      'content',
      `SELECT '/v1/videos/' || subject AS path FROM outbox WHERE type = 'video.published' ORDER BY subject`,
    );
    expect(events.map(({ path }) => path).filter((path) => acknowledged.jobs.has(path))).toEqual(paths);
    const created = await stack.sql<{ count: number }>(
      'content',
      `SELECT count(*)::int AS count FROM outbox WHERE type = 'video.created' GROUP BY subject`,
    );
    expect(created.map(({ count }) => count)).toEqual((await readRows()).map(() => 1));
  });

  it('leave no file that no row names, once it was swept', async () => {
    await stack.kill('content');
    const changed = await Promise.all((await listFiles()).map(async (key) => (await stat(join(root(), key))).ctimeMs));
    await until(() => Promise.resolve(Date.now() > Math.max(...changed) + SWEEP_AFTER_SECONDS * 1000));
    await stack.revive('content');
    const readNamed = async () => {
      const parts = await stack.sql<{ fileKey: string }>('content', 'SELECT "fileKey" FROM video_upload_parts');
      const videos = await readRows();
      return [...parts, ...videos].map(({ fileKey }) => fileKey).concat(videos.flatMap(({ posterKey }) => posterKey ?? []));
    };
    await until(async () => JSON.stringify(await listFiles()) === JSON.stringify((await readNamed()).sort()));
  });
});
