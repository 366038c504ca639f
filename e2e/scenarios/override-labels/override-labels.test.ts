/** Progressive `@override(label:)`: fields move from one subgraph to another by a label that is set, or for so many of a hundred requests. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, compose, startFederation, startGateway } from '../../stack/federation/federation.ts';

let federation: Federation;
afterEach(() => federation.stop());

const reference = { __resolveReference: (key: object) => key };

/** `before` has all; `after` takes over the price, by one directive, and the motto, by the other. */
function createSubgraphs({ price, motto = price }: { price: string; motto?: string }) {
  return {
    before: {
      sdl: `type Query { products: [Product!]! motto: String }
        type Product @key(fields: "id") { id: ID! price: Int twice: Int }`,
      resolvers: {
        Query: { products: () => [{ id: 'p1' }, { id: 'p2' }], motto: () => 'before' },
        Product: { ...reference, price: () => 1, twice: () => 2 },
      },
    },
    after: {
      sdl: `type Query { motto: String @override(from: "before"${motto}) }
        type Product @key(fields: "id") { id: ID! price: Int @override(from: "before"${price}) tax: Int @requires(fields: "twice") twice: Int @external }`,
      resolvers: {
        Query: { motto: () => 'after' },
        Product: { ...reference, price: () => 10, tax: ({ twice }: { twice: number }) => twice },
      },
    },
  };
}
const label = (name: string) => `, label: "${name}"`;
const QUERY = '{ motto products { id price tax } }';
const toAnswer = (motto: string, price: number) => ({ data: { motto, products: ['p1', 'p2'].map((id) => ({ id, price, tax: 2 })) } });
const BEFORE = toAnswer('before', 1);
const AFTER = toAnswer('after', 10);
const answer = async () => (await federation.ask(QUERY)).body;
const received = (subgraph: string) => federation.received.filter((one) => one.subgraph === subgraph).map(({ query }) => query);

it.each([
  ['nothing is set', '', BEFORE],
  ['it is set', 'prices', AFTER],
  ['it is set among others, that nothing asks for', 'none, prices percent(100)', AFTER],
  ['others are set', 'price, Prices', BEFORE],
])('applies a label as OVERRIDE_LABELS says: %s', async (_, OVERRIDE_LABELS, expected) => {
  federation = await startFederation(createSubgraphs({ price: label('prices') }), { env: { OVERRIDE_LABELS } });
  expect(await answer()).toEqual(expected);
  expect(received(expected === AFTER ? 'before' : 'after').join()).not.toMatch(/price|motto/);
});

it('applies each label separately', async () => {
  federation = await startFederation(createSubgraphs({ price: label('prices'), motto: label('mottos') }), {
    env: { OVERRIDE_LABELS: 'mottos' },
  });
  expect(await answer()).toEqual(toAnswer('after', 1));
});

it.each([
  [0, BEFORE],
  [100, AFTER],
])('applies percent(%d) to that share of requests, to the first one and to those with a cached plan', async (percent, expected) => {
  federation = await startFederation(createSubgraphs({ price: label(`percent(${String(percent)})`) }));
  const answers = await Promise.all(Array.from({ length: 50 }, answer));
  expect(new Set([...answers, await answer()].map((each) => JSON.stringify(each)))).toEqual(new Set([JSON.stringify(expected)]));
});

it('applies percent(50) to some requests, and resolves each request by one subgraph only', async () => {
  federation = await startFederation(createSubgraphs({ price: label('percent(50)') }));
  const seen = new Set<string>();
  await until(async () => {
    seen.add(JSON.stringify(await answer()));
    return seen.size > 1;
  });
  for (let i = 0; i < 50; i++) seen.add(JSON.stringify(await answer()));
  expect(seen).toEqual(new Set([BEFORE, AFTER].map((each) => JSON.stringify(each))));
});

it('migrates a field with each new supergraph until the other subgraph owns it, and no request fails', async () => {
  federation = await startFederation(createSubgraphs({ price: label('percent(0)') }));
  const urls: Record<string, string> = {};
  for (const [, name = '', url = ''] of federation.supergraphSdl.matchAll(/name: "(\w+)", url: "([^"]+)"/g)) urls[name] = url;
  const replace = async (price: string) => federation.replaceSupergraph(await compose(createSubgraphs({ price }), urls));
  const settled = async (expected: object) => JSON.stringify(await answer()) === JSON.stringify(expected);
  const seen = new Set<string>();
  let isOver = false;
  const load = Promise.all(
    Array.from({ length: 4 }, async () => {
      while (!isOver) seen.add(JSON.stringify(await answer()));
    }),
  );
  expect(await settled(BEFORE)).toBe(true);
  await replace(label('percent(100)'));
  await until(() => settled(AFTER));
  await replace(label('percent(0)'));
  await until(() => settled(BEFORE));
  await replace('');
  await until(() => settled(AFTER));
  isOver = true;
  await load;
  expect(seen).toEqual(new Set([BEFORE, AFTER].map((each) => JSON.stringify(each))));
});

describe('labels of one request', () => {
  const both = createSubgraphs({ price: label('prices'), motto: label('mottos') });
  const bodyWith = async (headers: Record<string, string>) => (await federation.ask(QUERY, {}, headers)).body;

  it('are those of the header that OVERRIDE_LABELS_HEADER names, also for plans and results that are cached', async () => {
    federation = await startFederation(both, {
      env: { OVERRIDE_LABELS_HEADER: 'X-Labels', OVERRIDE_LABELS: 'mottos', RESPONSE_CACHE: 'memory' },
    });
    for (let i = 0; i < 2; i++) {
      expect(await bodyWith({})).toEqual(toAnswer('after', 1));
      expect(await bodyWith({ 'x-labels': 'none, prices' })).toEqual(AFTER);
      expect(await bodyWith({ 'x-labels': 'percent(100),,PRICES' })).toEqual(toAnswer('after', 1));
      expect(await bodyWith({ 'trestle-labels': 'prices', 'override-labels': 'prices' })).toEqual(toAnswer('after', 1));
    }
    await expect(startGateway(['--port', '0'], { OVERRIDE_LABELS_HEADER: 'authorization' })).rejects.toThrow(/OVERRIDE_LABELS_HEADER/);
  });

  it('are those that an extension sets, and one that is no label refuses the request', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-labels-'));
    const file = join(home, 'extension.mjs');
    await writeFile(
      file,
      `export default { name: 'labels', onContext({ request, setOverrideLabels }) {
        const user = request.headers['x-user'];
        if (user) setOverrideLabels(user === 'bad' ? ['a,b'] : user === 'many' ? Array(51).fill('a') : ['none', user]);
      } };`,
    );
    federation = await startFederation(both, { env: { EXTENSIONS_FILE: file } });
    expect(await bodyWith({ 'x-user': 'prices' })).toEqual(toAnswer('before', 10));
    expect(await bodyWith({})).toEqual(BEFORE);
    expect(await bodyWith({ 'x-user': 'mottos' })).toEqual(toAnswer('after', 1));
    for (const user of ['bad', 'many']) expect((await federation.ask(QUERY, {}, { 'x-user': user })).status).toBe(500);
    await rm(home, { recursive: true });
  });

  it('are the same for equal request ids where a percentage decides', async () => {
    federation = await startFederation(createSubgraphs({ price: label('percent(50)') }));
    for (const id of Array.from({ length: 4 }, () => randomUUID())) {
      const answers = await Promise.all(Array.from({ length: 5 }, () => bodyWith({ 'x-request-id': id })));
      expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1);
    }
  });
});
