/** The start from a source that is a real server, with an engine that loads as a test says. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Engine } from '../engines/engine.ts';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';
import { createLastGood } from './last-good.ts';
import { createSourceMetrics } from './source-metrics.ts';
import { type RunningSupergraph, startSupergraph } from './start-supergraph.ts';
import { type TestServer, serveText, startTestServer } from './test-server.ts';

let folder: string;
let server: TestServer;
let running: RunningSupergraph | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-start-'));
  server = await startTestServer(serveText('new', '"1"'));
});
afterEach(async () => {
  running?.stop();
  await server.stop();
  await rm(folder, { recursive: true });
});

/** Starts with a copy of `kept` on disk. Returns what was loaded, in order; the first load of `new` fails for a reason that passes. */
async function start(kept: string): Promise<string[]> {
  const [url, file] = [`${server.url}/s`, join(folder, 'kept.graphql')];
  await createLastGood({ file, place: url, maxBytes: 1000 }).write(kept);
  const loaded: string[] = [];
  let failures = 1;
  const load = (sdl: string) => {
    if (sdl === 'new' && failures-- > 0) return Promise.reject(new PlannerUnavailable(new Error('no memory')));
    loaded.push(sdl);
    return Promise.resolve();
  };
  const ignore = () => undefined;
  running = await startSupergraph({
    settings: { kind: 'url', url, headers: {}, polling: { intervalMs: 5, timeoutMs: 120_000, maxBytes: 1000, cacheFile: file } },
    createEngine: async (sdl) => {
      await load(sdl);
      return { swap: load, hash: 'hash' } as unknown as Engine;
    },
    log: { info: ignore, warn: ignore, error: ignore },
    metrics: createSourceMetrics(metrics),
  });
  return loaded;
}

const metrics = new Registry();
afterEach(() => {
  metrics.clear();
});
const isCurrent = async () => (await metrics.getSingleMetric('trestle_supergraph_current')?.get())?.values[0]?.value;
const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await delay(2);
};

describe('a supergraph that cannot be loaded at the start for a reason that passes', () => {
  it('is loaded after the copy on disk was served, although its source has not changed', async () => {
    const loaded = await start('old');
    await until(async () => (await isCurrent()) === 1);
    expect(loaded).toEqual(['old', 'new']);
    await until(async () => (await readFile(join(folder, 'kept.graphql'), 'utf8')).endsWith('\nnew'));
  });

  it('is current when the copy on disk is the same', async () => {
    const loaded = await start('new');
    await until(async () => (await isCurrent()) === 1);
    expect(loaded).toEqual(['new']);
  });
});
