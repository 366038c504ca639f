/** Tests: which results are kept, for whom, and for how long. */
import { describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { ADA, BOB, HIT, MINE, STORED, ask, createGate, federation, fetchesOf, fresh, statusOf } from './lamp-system.ts';
import { state } from './lamps.ts';

describe('the response cache', () => {
  it('answers a query that may be cached from the first result, with Age and Cache-Status', async () => {
    const query = fresh('{ lamp { name price } }');
    const first = await ask(query);
    const second = await ask(query);
    expect([statusOf(first), first.headers.get('age')]).toEqual([STORED, null]);
    expect([second.text, statusOf(second), second.headers.get('age')]).toEqual([
      first.text,
      expect.stringMatching(HIT),
      expect.stringMatching(/^\d+$/),
    ]);
    expect(federation.received).toHaveLength(2);
    expect(await readMetric(federation.gateway.url, 'trestle_response_cache_queries_total{outcome="hit"}')).toBeGreaterThan(0);
  });

  it('sends the Cache-Control of the first result by GET', async () => {
    const url = `${federation.url}?query=${encodeURIComponent(fresh('{ lamp { name } }'))}`;
    const [first, second] = [await request(url, { method: 'GET' }), await request(url, { method: 'GET' })];
    expect([first, second].map(({ headers }) => headers.get('cache-control'))).toEqual(['public, max-age=600', 'public, max-age=600']);
    expect(statusOf(second)).toMatch(HIT);
  });

  it('keeps nothing that the schema does not allow, no introspection, and nothing with rules of access', async () => {
    for (const selection of [
      '{ lamp { name } never }',
      '{ __schema { queryType { name } } }',
      '{ lamp { name } secret }',
      '{ __typename }',
    ]) {
      const query = fresh(selection);
      await ask(query);
      expect([selection, statusOf(await ask(query))]).toEqual([selection, null]);
    }
    expect(statusOf(await ask(`mutation { touch(name: "a") }`))).toBeNull();
  });

  it('keeps no result with an error', async () => {
    state.isBroken = true;
    const query = fresh('{ lamp { name } failing }');
    const failed = await ask(query);
    expect([failed.body.errors?.length, statusOf(failed)]).toEqual([1, 'Trestle; fwd=uri-miss']);
    state.isBroken = false;
    expect((await ask(query)).body.errors).toBeUndefined();
  });

  it('executes again when the time is over', async () => {
    const query = fresh('{ brief }');
    state.name = 'old';
    expect((await ask(query)).body.data).toEqual({ brief: 'old' });
    state.name = 'new';
    await until(async () => (await ask(query)).body.data?.['brief'] === 'new');
  });

  it('compares variables by value, without regard to their order, and fills in defaults', async () => {
    const query = fresh('{ found(filter: $filter, ids: $ids, first: $first) }', '($filter: Filter, $ids: [Int!], $first: Int = 2)');
    const stored = async (variables: object) => statusOf(await ask(query, {}, { variables })) === STORED;
    expect(await stored({ filter: { a: 1, b: 2 }, ids: [1, 2] })).toBe(true);
    expect(await stored({ ids: [1, 2], filter: { b: 2, a: 1 } })).toBe(false);
    expect(await stored({ ids: [1, 2], filter: { b: 2, a: 1 }, first: 2 })).toBe(false);
    for (const other of [
      { filter: { a: 2, b: 1 }, ids: [1, 2] },
      { filter: { a: 1, b: 2 }, ids: [2, 1] },
      { filter: { a: 1, b: 2 } },
      { filter: null, ids: null },
      {},
    ])
      expect([other, await stored(other)]).toEqual([other, true]);
  });

  it('gives a result to no other credential, and to no other value of a header that subgraphs get', async () => {
    for (const query of [fresh('{ lamp { name } }'), fresh(MINE)])
      expect(await fetchesOf(query, ADA, ADA, BOB, BOB, { ...ADA, 'x-tenant': 'a' }, { ...ADA, 'x-tenant': 'a' }, ADA)).toEqual([
        1, 0, 1, 0, 1, 0, 0,
      ]);
    expect(await fetchesOf(fresh('{ lamp { name } }'), {}, {}, ADA, { 'x-tenant': 'a' }, { 'x-tenant': 'b' }, { 'x-other': 'c' })).toEqual([
      1, 0, 1, 1, 1, 0,
    ]);
  });

  it('keeps no private result of a client that nothing identifies', async () => {
    const query = fresh(MINE);
    expect(await fetchesOf(query, {}, {})).toEqual([1, 1]);
    // A header that subgraphs get may be that of many clients.
    expect(await fetchesOf(query, { 'x-tenant': 'a' }, { 'x-tenant': 'a' })).toEqual([1, 1]);
    expect(statusOf(await ask(query))).toBe('Trestle; fwd=bypass');
  });

  it('obeys the Cache-Control of a subgraph, and keeps no response with headers of subgraphs', async () => {
    const given: readonly (readonly [string, string, boolean])[] = [
      ['cache-control', 'no-store', false],
      ['cache-control', 'private, max-age=60', false],
      ['cache-control', 'max-age=0', false],
      ['cache-control', 'max-age=60', true],
      ['x-served-by', 'one', false],
    ];
    for (const [name, value, isStored] of given) {
      federation.intercept = (_, __, response) => {
        response.setHeader(name, value);
      };
      expect([name, value, statusOf(await ask(fresh('{ lamp { name } }')))]).toEqual([
        name,
        value,
        isStored ? STORED : 'Trestle; fwd=uri-miss',
      ]);
    }
  });

  it('executes for a report, and keeps nothing of it', async () => {
    const query = fresh('{ lamp { name } }');
    await ask(query);
    const reported = await ask(query, { 'trestle-cost': '1' });
    expect([statusOf(reported), reported.body.extensions?.['cost']]).toEqual([null, expect.anything()]);
    expect((await ask(query)).body.extensions).toBeUndefined();
  });

  it.each([false, true])(
    'executes once for clients that ask at the same time, and for each of them when the result may not be kept',
    async (isBroken) => {
      state.isBroken = isBroken;
      const query = fresh('{ failing }');
      const gate = createGate();
      federation.intercept = () => gate.isOpen;
      const misses = () => readMetric(federation.gateway.url, 'trestle_response_cache_queries_total{outcome="miss"}');
      const before = await misses();
      const replies = [ask(query), ask(query), ask(query), ask(query)];
      await until(async () => (await misses()) === before + 4);
      gate.open();
      const statuses = (await Promise.all(replies)).map(statusOf).sort();
      expect(federation.received).toHaveLength(isBroken ? 4 : 1);
      const joined = 'Trestle; fwd=uri-miss; collapsed';
      expect(statuses).toEqual(isBroken ? statuses.map(() => 'Trestle; fwd=uri-miss') : [joined, joined, joined, STORED]);
    },
  );
});
