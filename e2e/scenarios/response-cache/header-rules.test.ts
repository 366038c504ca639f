/** What rules say about `Cache-Control` of subgraphs holds for results from the entity cache, too. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { LAMPS } from './lamps.ts';

let folder: string;
let federation: Federation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-cache-rules-'));
  const file = join(folder, 'trestle.yaml');
  const rules = '{ response: [{ propagate: Cache-Control, default: no-store }] }';
  await writeFile(file, `responseCache: { store: memory, contents: entities }\nheaders: ${rules}\n`);
  federation = await startFederation(LAMPS, { args: ['--config', file] });
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});
afterEach(() => {
  federation.intercept = undefined;
});

/** Sends an operation by GET. */
const read = async (query: string) => {
  const { headers } = await request(`${federation.url}?query=${encodeURIComponent(query)}`, {
    method: 'GET',
    headers: { 'apollo-require-preflight': '1' },
  });
  return [headers.get('cache-status'), headers.get('cache-control')];
};

it('has `no-store` where a rule gives it to a subgraph that says nothing', async () => {
  expect(await read('{ lamp { name } }')).toEqual([expect.stringContaining('fwd'), 'no-store']);
  expect(await read('{ lamp { name } }')).toEqual(['TrestleEntities; hit', 'no-store']);
});

it('may be cached for what is left of the time that the subgraph allows', async () => {
  federation.intercept = (_, __, response) => {
    response.setHeader('cache-control', 'max-age=100, s-maxage=50');
  };
  expect(await read('{ brief other { name } }')).toEqual([expect.stringContaining('fwd'), expect.stringMatching(/^public, max-age=1\b/)]);
  expect(await read('{ other { name } }')).toEqual([expect.stringContaining('fwd'), 'public, max-age=100, s-maxage=50']);
  const [status, caching] = await read('{ other { name } }');
  expect(status).toBe('TrestleEntities; hit');
  expect(caching).toMatch(/^public, max-age=(?:100|99|9\d), s-maxage=(?:50|4\d)$/);
});
