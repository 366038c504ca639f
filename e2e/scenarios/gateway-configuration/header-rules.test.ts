/** Rules for headers between clients, the gateway and real subgraphs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation.ts';

const SOURCES = {
  lamps: {
    sdl: 'type Query { lamp: Lamp } type Mutation { dim: Int } type Lamp @key(fields: "id") { id: ID! }',
    resolvers: { Query: { lamp: () => ({ id: '1' }) }, Mutation: { dim: () => 1 } },
  },
  prices: {
    sdl: 'type Lamp @key(fields: "id") { id: ID! price: Int }',
    resolvers: { Lamp: { __resolveReference: (lamp: object) => lamp, price: () => 5 } },
  },
};
const RULES = `
headers:
  forward: [x-both]
  request:
    - { propagate: X-Tenant, as: X-Tenant-Id, default: none }
    - { insert: X-Gateway, value: "\${GATEWAY_NAME:unnamed}" }
subgraphs:
  prices:
    headers:
      request:
        - { propagate: X-Secret }
        - { remove: X-Gateway }
        - { remove: Authorization }
        - { remove: X-Both }
      response:
        - { propagate: Date, as: X-Priced-At }
        - { propagate: X-None, default: absent }
        - { insert: X-Source, value: prices }
`;
const QUERY = '{ lamp { price } }';
const SENT = { 'x-tenant': 'acme', 'x-secret': 's', 'x-both': 'b', 'x-other': 'o', authorization: 'Basic YTpi', te: 'trailers' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-header-rules-'));
  await writeFile(join(folder, 'rules.yaml'), RULES);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['lean', 'bytes'],
  ['undici', 'objects'],
])('rules for headers, with the client %s and the executor %s', (client, executor) => {
  let federation: Federation;
  beforeAll(async () => {
    const args = ['--config', join(folder, 'rules.yaml'), '--set', `traffic.client=${client}`, '--set', `engine.executor=${executor}`];
    federation = await startFederation(SOURCES, { args, env: { GATEWAY_NAME: 'g1' } });
  });
  afterAll(() => federation.stop());

  /** Returns the headers that the last fetch of a subgraph had. */
  const lastOf = (subgraph: string) => federation.received.findLast((each) => each.subgraph === subgraph)?.headers ?? {};

  it('renames, inserts and removes for all subgraphs and for one', async () => {
    expect((await federation.ask(QUERY, {}, SENT)).body).toEqual({ data: { lamp: { price: 5 } } });
    const [lamps, prices] = [lastOf('lamps'), lastOf('prices')];
    expect(lamps).toMatchObject({ 'x-tenant-id': 'acme', 'x-gateway': 'g1', 'x-both': 'b', authorization: 'Basic YTpi' });
    expect(prices).toMatchObject({ 'x-tenant-id': 'acme', 'x-secret': 's', 'content-type': 'application/json' });
    for (const name of ['x-secret', 'x-tenant', 'x-other', 'te']) expect(lamps).not.toHaveProperty(name);
    for (const name of ['x-gateway', 'x-both', 'authorization', 'x-tenant', 'x-other', 'te']) expect(prices).not.toHaveProperty(name);
  });

  it('sends the default when the client sends no header', async () => {
    await federation.ask(QUERY);
    expect([lastOf('lamps')['x-tenant-id'], lastOf('prices')['x-secret']]).toEqual(['none', undefined]);
  });

  it('returns headers of the response to a query, with defaults and values of its own', async () => {
    const { headers } = await federation.ask(QUERY);
    expect(Date.parse(headers.get('x-priced-at') ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect([headers.get('x-none'), headers.get('x-source')]).toEqual(['absent', 'prices']);
    const other = await federation.ask('mutation { dim }');
    expect([other.status, other.headers.get('x-source'), lastOf('lamps')['x-gateway']]).toEqual([200, null, 'g1']);
  });
});
