import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { trafficOf } from '../../upstream/traffic/traffic-settings.ts';
import { loadConfiguration } from '../load-configuration.ts';
import { readUrlLists } from '../subgraph-urls.ts';
import { readTraffic } from './traffic-settings.ts';

const ALL = {
  UPSTREAM_CLIENT: 'lean' as const,
  SUBGRAPH_TIMEOUT_MS: 10_000,
  SUBGRAPH_MAX_CONNECTIONS: 64,
  SUBGRAPH_RETRY_PERCENT: 10,
  SUBGRAPH_RETRY_STATUSES: [],
  SUBGRAPH_BREAKER_FAILURES: 10,
  SUBGRAPH_BREAKER_OPEN_MS: 500,
  SUBGRAPH_EJECTION_FAILURES: 5,
  SUBGRAPH_EJECTION_MS: 1000,
  SUBGRAPH_REQUESTS_PER_SECOND: 0,
  SUBGRAPH_MAX_RESPONSE_BYTES: 33_554_432,
  SUBGRAPH_PERSISTED_QUERIES: false,
  UPSTREAM_COMPRESSION: false,
};

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-traffic-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const load = async (text: string) => {
  const file = join(folder, 'trestle.yaml');
  await writeFile(file, text);
  return loadConfiguration(file, {});
};

describe('readUrlLists', () => {
  it('reads several addresses of a subgraph', async () => {
    const configuration = await load('subgraphs: { Reports: { urls: [http://a/, http://b/] } }\n');
    expect([...readUrlLists(configuration.values, configuration)]).toEqual([['reports', ['http://a/', 'http://b/']]]);
  });

  it('refuses an address that is listed twice, also in another form, and a list without one', async () => {
    const twice = await load('subgraphs:\n  Reports:\n    urls: [http://a/, http://b/, http://A:80]\n');
    expect(twice.faults).toEqual([expect.stringMatching(/:3:\d+: subgraphs\.Reports\.urls: must not list an address twice: number 3 is/)]);
    const empty = await load('subgraphs:\n  Reports:\n    urls: []\n');
    expect(empty.faults).toEqual([expect.stringMatching(/:3:\d+: subgraphs\.Reports\.urls: must list an address/)]);
  });

  it('refuses what is no address, and a list beside a single address, with the line', async () => {
    const { faults } = await load('subgraphs:\n  reports:\n    urls: [ftp://a/]\n');
    expect(faults).toEqual([expect.stringMatching(/:3:\d+: subgraphs\.reports\.urls: must be URLs/)]);
    const both = await load('subgraphs:\n  Reports:\n    urls: [http://a/]\n    url: http://b/\n');
    expect(() => readUrlLists(both.values, both)).toThrow(/:3:\d+: subgraphs\.Reports\.urls: must not be set beside `url`/);
    expect(() => readUrlLists({ SUBGRAPH_URLS_A: 'nowhere' }, both)).toThrow('SUBGRAPH_URLS_A: must be URLs');
  });
});

describe('readTraffic', () => {
  it('reads the limits of a single subgraph over those for all; names have no case', async () => {
    const { values, faults } = await load(
      'subgraphs: { Reports: { traffic: { client: http2, timeoutMs: 60000, maxConnections: 2, retryPercent: 0, breakerFailures: 0, retryStatuses: [503, 504], idleTimeoutMs: 900 } } }\n',
    );
    expect(faults).toEqual([]);
    const traffic = readTraffic({ ...ALL, SUBGRAPH_BREAKER_OPEN_MS: 900 }, values);
    expect(trafficOf('reports', traffic)).toEqual({
      client: 'http2',
      ...{ timeoutMs: 60_000, maxConnections: 2, retryPercent: 0, retryStatuses: [503, 504], breakerFailures: 0, breakerOpenMs: 900 },
      idleTimeoutMs: 900,
      ...{ ejectionFailures: 5, ejectionMs: 1000, requestsPerSecond: 0, maxResponseBytes: 33_554_432, persistedQueries: false },
    });
    expect(trafficOf('users', traffic)).toMatchObject({ client: 'lean', timeoutMs: 10_000, maxConnections: 64, breakerOpenMs: 900 });
  });

  it.each([
    ['client: http3', 'must be one of lean, undici, http2'],
    ['timeoutMs: 99', 'must be an integer from 100 to 300000, in milliseconds'],
    ['timeoutMs: soon', 'must be an integer'],
    ['idleTimeoutMs: 0', 'must be an integer from 100 to 600000, in milliseconds'],
    ['idleTimeoutMs: 15s', 'must be an integer from 100 to 600000, in milliseconds, without a unit behind it'],
    ['maxConnections: 0', 'must be an integer from 1 to 1024'],
    ['retryPercent: 101', 'must be an integer from 0 to 100, in percent'],
    ['retryStatuses: 503', 'must be a list of integers from 400 to 599'],
    ['retryStatuses: "503"', 'must be a list of integers from 400 to 599'],
    ['retryStatuses: [503, 200]', 'must be a list of integers from 400 to 599'],
    ['retryStatuses: [600]', 'must be a list of integers from 400 to 599'],
    ['requestsPerSecond: -1', 'must be an integer from 0 to 1000000'],
    ['maxResponseBytes: 1000', 'must be an integer from 1024 to 268435456'],
    ['retries: 3', 'is unknown'],
  ])('refuses %s with its line', async (line, fault) => {
    const { faults } = await load(`subgraphs:\n  reports:\n    traffic:\n      ${line}\n`);
    expect(faults).toEqual([expect.stringMatching(new RegExp(`:4:\\d+: subgraphs\\.reports\\.traffic\\.${line.split(':')[0] ?? ''}: `))]);
    expect(faults[0]).toContain(fault);
  });

  it('refuses persisted queries with compression', async () => {
    const { values } = await load('subgraphs: { a: { traffic: { persistedQueries: true } } }\n');
    expect(trafficOf('a', readTraffic(ALL, values)).persistedQueries).toBe(true);
    expect(() => readTraffic({ ...ALL, UPSTREAM_COMPRESSION: true }, values)).toThrow('traffic.compression must be off');
  });

  it('names every bad variable', () => {
    const env = { SUBGRAPH_TIMEOUT_MS_A: '1', SUBGRAPH_BREAKER_OPEN_MS_B: 'x' };
    expect(() => readTraffic(ALL, env)).toThrow(
      'SUBGRAPH_TIMEOUT_MS_A: must be at least 100\nSUBGRAPH_BREAKER_OPEN_MS_B: must be an integer',
    );
  });
});
