/** Tests: results of single fetches that the gateway keeps, for whichever query needs them. */
import { describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Headers, ADA, BOB, KEY, MINE, ask, entityGateways, federation, fresh, nextNumber, statusOf } from './lamp-system.ts';
import { state } from './lamps.ts';

const CODES = '{ lamps(ids: $ids) { id code } }';
/** Sends no operation of another test, so that no whole operation is the same. */
const codes = (url: string, ids: readonly string[], headers: Headers = {}) =>
  ask(fresh(CODES, '($ids: [ID!]!)'), headers, { url, variables: { ids } });
/** Returns ids that no test has used. */
const freshIds = (count: number) => Array.from({ length: count }, () => String(100 + nextNumber()));
const entitiesOf = () =>
  federation.received
    .filter(({ subgraph }) => subgraph === 'prices')
    .map(({ variables }) => (variables['representations'] as { id: string }[]).map(({ id }) => id));
const HIT = 'TrestleEntities; hit';

describe.each([
  { kind: 'on bytes in memory', index: 0 },
  { kind: 'with objects in Redis', index: 1 },
])('a cache of single fetches $kind', ({ index }) => {
  const urlOf = () => `${entityGateways[index]?.url ?? ''}/graphql`;

  it('fetches those entities only that it has not kept, for any operation, and puts each into its place', async () => {
    const [a = '', b = '', c = '', d = ''] = freshIds(4);
    state.name = 'kept';
    await codes(urlOf(), [a, c]);
    state.name = 'new';
    const mixed = await codes(urlOf(), [d, c, b, a, c]);
    expect(mixed.body.data).toEqual({
      lamps: [
        { id: d, code: `${d} new` },
        { id: c, code: `${c} kept` },
        { id: b, code: `${b} new` },
        { id: a, code: `${a} kept` },
        { id: c, code: `${c} kept` },
      ],
    });
    expect(entitiesOf()).toEqual([
      [a, c],
      [d, b],
    ]);
    expect(statusOf(mixed)).toBe('TrestleEntities; fwd=partial; detail="2 of 5"');
    federation.received.length = 0;
    const again = await codes(urlOf(), [d, c, b, a, c]);
    expect([again.text, statusOf(again), federation.received]).toEqual([mixed.text, HIT, []]);
    expect(await readMetric(entityGateways[index]?.url ?? '', 'trestle_entity_cache_parts_total{outcome="hit"}')).toBeGreaterThan(0);
  });

  it('reports an error of an entity at its place, keeps nothing of such a response, and no entity that is null', async () => {
    const [a = '', b = ''] = freshIds(2);
    await codes(urlOf(), [a]);
    federation.intercept = ({ subgraph }) =>
      subgraph === 'prices'
        ? { data: { _entities: [{ __typename: 'Lamp', code: null }] }, errors: [{ message: 'no', path: ['_entities', 0, 'code'] }] }
        : undefined;
    const failed = await codes(urlOf(), [a, b]);
    expect([failed.body.data, failed.body.errors?.map(({ path }) => path)]).toEqual([
      {
        lamps: [
          { id: a, code: expect.stringContaining(a) },
          { id: b, code: null },
        ],
      },
      [['lamps', 1, 'code']],
    ]);
    federation.intercept = ({ subgraph }) => (subgraph === 'prices' ? { data: { _entities: [null] } } : undefined);
    expect((await codes(urlOf(), [b, a])).body.data).toMatchObject({ lamps: [{ id: b, code: null }, { id: a }] });
    federation.intercept = undefined;
    expect((await codes(urlOf(), [a, b])).body.data).toMatchObject({ lamps: [{ id: a }, { id: b, code: expect.stringContaining(b) }] });
  });

  it('keeps what arrives with white space, too', async () => {
    const ids = freshIds(2);
    federation.intercept = ({ subgraph, variables }, _, response) => {
      if (subgraph !== 'prices') return undefined;
      const entities = (variables['representations'] as { id: string }[]).map(({ id }) => ({ __typename: 'Lamp', code: `spaced ${id}` }));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ data: { _entities: entities } }, undefined, 2));
      return new Promise(() => undefined);
    };
    const first = await codes(urlOf(), ids);
    expect(first.text).toContain(`spaced ${ids[0] ?? ''}`);
    federation.received.length = 0;
    expect((await codes(urlOf(), ids)).body.data).toEqual(first.body.data);
    expect(federation.received).toHaveLength(0);
  });

  it('never follows a mutation by older results for its client, and for others ends those with its types', async () => {
    const ids = freshIds(2);
    for (const headers of [ADA, BOB]) await codes(urlOf(), ids, headers);
    const other = '{ other { name } }';
    await ask(fresh(other), BOB, { url: urlOf() });
    const touched = `touched ${String(nextNumber())}`;
    await ask(`mutation { touch(name: "${touched}") }`, ADA, { url: urlOf() });
    expect(statusOf(await codes(urlOf(), ids, BOB))).toBe(HIT);
    expect((await codes(urlOf(), ids, ADA)).text).toContain(touched);
    const renamed = `renamed ${String(nextNumber())}`;
    await ask(`mutation { rename(name: "${renamed}") { id code } }`, ADA, { url: urlOf() });
    expect((await codes(urlOf(), ids, BOB)).text).toContain(renamed);
    expect(statusOf(await ask(fresh(other), BOB, { url: urlOf() }))).toBe(HIT);
  });

  it('uses what is stale while one fetch replaces it, in a result that no other cache may keep, and not after a mutation', async () => {
    const read = async (headers: Headers = {}) => ask(fresh('{ brief }'), { ...headers, 'trestle-cache': '1' }, { url: urlOf() });
    state.name = `old ${String(nextNumber())}`;
    await read();
    const old = state.name;
    state.name = `new ${String(nextNumber())}`;
    federation.intercept = () => ({ errors: [{ message: 'broken' }] });
    const before = federation.received.length;
    await until(async () => {
      const reply = await read();
      expect([reply.body.data, statusOf(reply)]).toEqual([{ brief: old }, HIT]);
      return federation.received.length > before + 1 && reply.headers.get('cache-control') === 'no-store';
    });
    federation.intercept = undefined;
    await until(async () => (await read()).body.data?.['brief'] === state.name);
    await ask('mutation { touch(name: "newest") }', ADA, { url: urlOf() });
    expect((await read(ADA)).body.data).toEqual({ brief: 'newest' });
  });

  it('keeps private results for one credential, and public ones for all', async () => {
    const read = async (query: string, headers: Headers) => statusOf(await ask(fresh(query), headers, { url: urlOf() }));
    await ask('mutation { rename(name: "fresh") { id } }', {}, { url: urlOf() });
    // The text is private in the type that the note has, and selected by its interface.
    for (const own of [MINE, '{ note { text } }']) {
      await read(own, ADA);
      expect([await read(own, BOB), await read(own, ADA), await read(own, {})]).toEqual([
        'TrestleEntities; fwd=uri-miss; detail="0 of 1"',
        HIT,
        'TrestleEntities; fwd=bypass; detail="0 of 0"',
      ]);
    }
    await read('{ lamp { name } }', ADA);
    expect(await read('{ lamp { name } }', BOB)).toBe(HIT);
    expect(await read('{ lamp { name } }', { ...BOB, 'x-tenant': 'a' })).toMatch(/0 of 1/);
  });

  it('keeps what only the Cache-Control of the subgraph allows, and nothing that it forbids', async () => {
    for (const [value, isKept] of [
      ['max-age=600', true],
      ['no-store', false],
      ['private, max-age=600', false],
    ] as const) {
      await request(`${entityGateways[index]?.url ?? ''}/response-cache`, {
        method: 'POST',
        body: { all: true },
        headers: { authorization: `Bearer ${KEY}` },
      });
      federation.intercept = (_, __, response) => {
        response.setHeader('cache-control', value);
      };
      for (const query of ['{ never }', '{ lamp { name } }']) {
        await ask(fresh(query), ADA, { url: urlOf() });
        expect([value, query, statusOf(await ask(fresh(query), ADA, { url: urlOf() })) === HIT]).toEqual([value, query, isKept]);
      }
    }
  });

  it('ends what has a tag of its subgraph, by the endpoint', async () => {
    const [tagged, other] = [freshIds(1), freshIds(1)];
    federation.intercept = (_, __, response) => {
      response.setHeader('surrogate-key', 'blue green');
    };
    await codes(urlOf(), tagged);
    federation.intercept = undefined;
    await codes(urlOf(), other);
    const { status } = await request(`${entityGateways[index]?.url ?? ''}/response-cache`, {
      method: 'POST',
      body: { tags: ['green'] },
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect(status).toBe(200);
    expect(statusOf(await codes(urlOf(), tagged))).toMatch(/0 of 2/);
    expect(statusOf(await codes(urlOf(), other))).toBe(HIT);
  });

  it('asks the subgraphs for a report of the plan', async () => {
    const ids = freshIds(1);
    await codes(urlOf(), ids);
    federation.received.length = 0;
    expect(statusOf(await codes(urlOf(), ids, { 'trestle-plan': '1' }))).toBeNull();
    expect(federation.received).toHaveLength(2);
  });
});
