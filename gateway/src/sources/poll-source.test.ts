/** The polling of a source by a real server; the test decides when a delay is over. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { type Polling, pollSource } from './poll-source.ts';
import { PlannerUnavailable } from '../plan/threads/planner-unavailable.ts';
import { MAX_LOADS } from './passing-failure.ts';
import { createSourceMetrics } from './source-metrics.ts';
import { type TestServer, beDown, serveText, startTestServer } from './test-server.ts';
import { createUrlSource } from './url-source.ts';

const INTERVAL_MS = 10_000;

let server: TestServer;
let polling: Polling | undefined;
let registry: Registry;
/** What was loaded, kept, and logged. */
let loaded: string[];
let kept: string[];
let lines: string[];
/** Random numbers to come. */
let random: number;
/** Delays, and what waits for the next one. */
let delays: number[];
let due: (() => void) | undefined;
let scheduled: () => void;
/** How many of the next loads fail for a reason that passes. */
let unavailable: number;

beforeEach(async () => {
  server = await startTestServer(serveText('one', '"1"'));
  registry = new Registry();
  unavailable = 0;
  [loaded, kept, lines, delays, random, due, scheduled] = [[], [], [], [], 0.5, undefined, () => undefined];
});
afterEach(async () => {
  polling?.stop();
  await server.stop();
});

/** Begins to poll. `bad` cannot be loaded. */
function start({ served = 'one', refused }: { served?: string; refused?: string } = {}): void {
  const write =
    (level: string) =>
    (message: string, fields: object = {}) => {
      lines.push(`${level}: ${message} ${'error' in fields ? String(fields.error) : ''}`);
    };
  polling = pollSource({
    source: createUrlSource({ urls: [`${server.url}/s`], headers: {}, timeoutMs: 120_000, maxBytes: 1000 }),
    ...{ intervalMs: INTERVAL_MS, served, refused },
    load: (sdl) => {
      if (sdl.startsWith('bad')) return Promise.reject(new Error('not valid'));
      if (unavailable-- > 0) return Promise.reject(new PlannerUnavailable(new Error('no memory')));
      loaded.push(sdl);
      return Promise.resolve();
    },
    keep: (sdl) => {
      kept.push(sdl);
      return Promise.resolve();
    },
    log: { info: write('info'), warn: write('warn'), error: write('error') },
    metrics: createSourceMetrics(registry),
    random: () => random,
    schedule: (callback, delayMs) => {
      delays.push(delayMs);
      due = callback;
      scheduled();
      return () => {
        due = undefined;
      };
    },
  });
}

/** Ends the delay, and resolves when the next one begins. */
async function pollOnce(): Promise<void> {
  const next = new Promise<void>((resolve) => {
    scheduled = resolve;
  });
  due?.();
  await next;
}

const countOf = async (result: string) =>
  (await registry.getSingleMetric('trestle_supergraph_reads_total')?.get())?.values.find(({ labels }) => labels['result'] === result)
    ?.value;
const isCurrent = async () => (await registry.getSingleMetric('trestle_supergraph_current')?.get())?.values[0]?.value;

describe('a source that is polled', () => {
  it('is read at the interval, give or take a tenth, and no sooner than it wants', async () => {
    start();
    random = 0;
    await pollOnce();
    random = 1;
    await pollOnce();
    expect(delays).toEqual([10_000, 9000, 11_000]);
  });

  it('has each new supergraph loaded once', async () => {
    start();
    await pollOnce();
    server.respond = serveText('two');
    await pollOnce();
    await pollOnce();
    expect([loaded, kept]).toEqual([['two'], ['two']]);
    expect([await countOf('new'), await countOf('unchanged'), await isCurrent()]).toEqual([1, 2, 1]);
  });

  it('is read again with longer delays while it fails, and what was loaded stays', async () => {
    start();
    await pollOnce();
    expect(await isCurrent()).toBe(1);
    server.respond = beDown;
    for (let i = 0; i < 5; i++) await pollOnce();
    expect(delays).toEqual([10_000, 10_000, 7500, 15_000, 30_000, 45_000, 45_000]);
    expect([loaded, await countOf('failed'), await isCurrent()]).toEqual([[], 5, 0]);
    expect(lines[0]).toContain('warn: the supergraph cannot be read from its source; still serving the last one SourceError');
    random = 0;
    await pollOnce();
    expect(delays.at(-1)).toBe(30_000);
  });

  it('is read at the interval again when it works again', async () => {
    start();
    server.respond = (response) => response.writeHead(500).end();
    await pollOnce();
    await pollOnce();
    server.respond = serveText('two');
    await pollOnce();
    expect([loaded, delays.at(-1), await isCurrent()]).toEqual([['two'], 10_000, 1]);
    expect(lines.at(-1)).toContain('responds again');
  });

  it('is not asked before the time in Retry-After', async () => {
    start();
    server.respond = (response) => response.writeHead(429, { 'retry-after': '90' }).end();
    await pollOnce();
    expect(delays.at(-1)).toBe(90_000);
  });

  it.each([
    ['with an ETag', '"b"'],
    ['without an ETag', undefined],
  ])('has an invalid supergraph %s refused, logged and counted once', async (_, etag) => {
    start();
    server.respond = serveText('bad', etag);
    await pollOnce();
    await pollOnce();
    expect([loaded, kept, await countOf('refused'), await countOf('unchanged'), await isCurrent()]).toEqual([[], [], 1, 1, 0]);
    expect(lines).toEqual(['error: refused a new supergraph; still serving the old one Error: not valid']);
    expect(delays.at(-1)).toBe(10_000);
    server.respond = serveText('two');
    await pollOnce();
    expect([loaded, await isCurrent()]).toEqual([['two'], 1]);
  });

  it.each([
    ['with an ETag', '"b"'],
    ['without an ETag', undefined],
  ])('has a supergraph %s loaded again, with longer delays, that could not be loaded for a reason that passes', async (_, etag) => {
    start();
    server.respond = serveText('two', etag);
    unavailable = 3;
    for (let i = 0; i < 3; i++) await pollOnce();
    expect([loaded, kept, await countOf('failed'), await isCurrent()]).toEqual([[], [], 3, 0]);
    expect(delays).toEqual([10_000, 7500, 15_000, 30_000]);
    expect(lines[0]).toContain('warn: a new supergraph cannot be loaded now, and will be tried again');
    await pollOnce();
    await pollOnce();
    expect([loaded, kept, await isCurrent(), delays.at(-1)]).toEqual([['two'], ['two'], 1, 10_000]);
  });

  it('has a supergraph refused that cannot be loaded ten times in a row, until the source changes', async () => {
    start();
    server.respond = serveText('two', '"b"');
    unavailable = MAX_LOADS;
    for (let i = 0; i < MAX_LOADS + 2; i++) await pollOnce();
    expect([loaded, await countOf('failed'), await countOf('refused'), await countOf('unchanged')]).toEqual([[], 9, 1, 2]);
    server.respond = serveText('three', '"c"');
    await pollOnce();
    expect([loaded, await isCurrent()]).toEqual([['three'], 1]);
  });

  it('takes a newer supergraph in place of one that waits to be loaded again', async () => {
    start();
    server.respond = serveText('two', '"b"');
    unavailable = 1;
    await pollOnce();
    server.respond = serveText('three', '"c"');
    await pollOnce();
    await pollOnce();
    expect([loaded, await isCurrent(), delays.at(-1)]).toEqual([['three'], 1, 10_000]);
  });

  it('is current again when it returns to the supergraph that is served', async () => {
    start();
    server.respond = serveText('bad');
    await pollOnce();
    server.respond = serveText('one');
    await pollOnce();
    expect([loaded, await isCurrent()]).toEqual([[], 1]);
    server.respond = serveText('bad');
    await pollOnce();
    expect(await countOf('refused')).toBe(2);
  });

  it('is not current while it delivers the supergraph that was refused at the start', async () => {
    start({ served: 'from disk', refused: 'bad' });
    server.respond = serveText('bad');
    await pollOnce();
    expect([loaded, lines, await isCurrent()]).toEqual([[], [], 0]);
  });

  it('is not read after a stop, and a request in flight ends', async () => {
    start();
    const ended = new Promise<void>((resolve) => {
      server.respond = (response) => {
        response.on('close', resolve);
        polling?.stop();
      };
    });
    due?.();
    await ended;
    expect([delays.length, lines, await countOf('failed')]).toEqual([1, [], 0]);
  });
});
