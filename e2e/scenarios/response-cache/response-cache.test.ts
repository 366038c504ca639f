/** Results of queries that the gateway keeps: which, for whom, for how long, and what ends that. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestRedis } from '@trestle/limits/test-redis';
import { type Reply, readMetric, request, until } from '../../stack/client.ts';
import { type Answer, type Federation, startFederation, startGateway } from '../../stack/federation.ts';
import type { RunningProcess } from '../../stack/process.ts';
import { LAMPS, state } from './lamps.ts';

const RULES = `
headers:
  request: [{ propagate: X-Tenant }]
  response: [{ propagate: Cache-Control }, { propagate: X-Served-By }]
`;
const [ADA, BOB] = [{ authorization: 'Basic YWRh' }, { authorization: 'Basic Ym9i' }];
const KEY = 'k'.repeat(32);
const MINE = '{ mine { name } }';

// Says loudly when there is no Redis.
const redis = await startTestRedis();

let folder: string;
let federation: Federation;
/** Another gateway before the same subgraphs, where all clients share what is PUBLIC, in a small cache. */
let sharing: RunningProcess;
/** A value that no test has used. */
let next = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-response-cache-'));
  const rules = join(folder, 'rules.yaml');
  await writeFile(rules, RULES);
  federation = await startFederation(LAMPS, { args: ['--config', rules], env: { RESPONSE_CACHE: 'memory', RESPONSE_CACHE_KEY: KEY } });
  const file = join(folder, 'supergraph.graphql');
  await writeFile(file, federation.supergraphSdl);
  const env = {
    RESPONSE_CACHE: 'memory',
    RESPONSE_CACHE_SHARING: 'all',
    RESPONSE_CACHE_BYTES: '300000',
    RESPONSE_CACHE_STALE_SECONDS: '600',
  };
  sharing = await startGateway(['--supergraph', file, '--port', '0', '--auth', 'off', '--config', rules], env);
});
beforeEach(() => {
  federation.received.length = 0;
  federation.intercept = undefined;
  state.isBroken = false;
});
afterAll(async () => {
  await sharing.end('SIGTERM');
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

type Headers = Record<string, string>;

/** Returns an operation that no test has sent, so that its result is not kept yet. */
const fresh = (query: string, declared = '') => `query Q${String(next++)}${declared} ${query}`;
const statusOf = ({ headers }: Reply) => headers.get('cache-status');
const ask = async (
  query: string,
  headers: Headers = {},
  { variables = {}, url = federation.url }: { variables?: object; url?: string } = {},
) => (await request(url, { method: 'POST', body: { query, variables }, headers })) as Reply & { body: Answer };
const HIT = /^Trestle; hit; ttl=\d+$/;
const STORED = 'Trestle; fwd=uri-miss; stored';

/** Returns a promise and the function that resolves it. */
const createGate = () => {
  let open = (): void => undefined;
  const isOpen = new Promise<undefined>((resolve) => {
    open = () => {
      resolve(undefined);
    };
  });
  return {
    isOpen,
    open: () => {
      open();
    },
  };
};

/** Returns how many requests subgraphs got for an operation, once for each set of headers. */
const fetchesOf = async (query: string, ...each: readonly Headers[]) => {
  const counts: number[] = [];
  for (const headers of each) {
    const before = federation.received.length;
    await ask(query, headers);
    counts.push(federation.received.length - before);
  }
  return counts;
};

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

describe('a mutation', () => {
  it('is followed by no older result for its client, whatever it has changed', async () => {
    for (const headers of [{}, ADA]) {
      const queries = [fresh('{ lamp { name } }'), fresh('{ other { name } }'), ...(headers === ADA ? [fresh(MINE)] : [])];
      for (const query of queries) await ask(query, headers);
      const name = `name ${String(next++)}`;
      await ask('mutation ($name: String!) { touch(name: $name) }', headers, { variables: { name } });
      for (const query of queries) expect((await ask(query, headers)).text).toContain(name);
    }
  });

  it('is followed by no older result when the query began before it and ends after it', async () => {
    const query = fresh('{ lamp { name } }');
    state.name = 'before';
    const gate = createGate();
    federation.intercept = async ({ query: text }) => {
      if (text.includes('mutation') || state.name !== 'before') return undefined;
      await gate.isOpen;
      return { data: { lamp: { name: 'before' } } };
    };
    const slow = ask(query);
    await until(() => Promise.resolve(federation.received.length === 1));
    await ask('mutation { touch(name: "after") }');
    const joined = ask(query);
    expect((await joined).body.data).toEqual({ lamp: { name: 'after' } });
    gate.open();
    expect((await slow).body.data).toEqual({ lamp: { name: 'before' } });
    expect((await ask(query)).body.data).toEqual({ lamp: { name: 'after' } });
  });

  it('invalidates for all clients what has a type of its result, and nothing else', async () => {
    const [lamp, other] = [fresh('{ lamp { name } }'), fresh('{ other { name } }')];
    for (const query of [lamp, other]) await ask(query);
    await ask('mutation { rename(name: "changed") { id } }', BOB);
    expect((await ask(lamp)).body.data).toEqual({ lamp: { name: 'changed' } });
    expect(statusOf(await ask(other))).toMatch(HIT);
  });

  it('that fails invalidates what its own client gets, and nothing of others', async () => {
    const query = fresh('{ lamp { name } }');
    for (const headers of [ADA, BOB]) await ask(query, headers);
    await ask('mutation { fail { id } }', ADA);
    expect(await fetchesOf(query, ADA, BOB)).toEqual([1, 0]);
  });
});

describe('a response cache that all clients share', () => {
  const shared = async (query: string, headers: Headers = {}) => statusOf(await ask(query, headers, { url: `${sharing.url}/graphql` }));

  it('gives what is PUBLIC to every credential, what is PRIVATE to one, and both by headers that subgraphs get', async () => {
    const query = fresh('{ lamp { name } }');
    expect(await shared(query, ADA)).toBe(STORED);
    for (const headers of [BOB, {}]) expect(await shared(query, headers)).toMatch(HIT);
    expect(await shared(query, { ...ADA, 'x-tenant': 'a' })).toBe(STORED);
    const own = fresh('{ lamp { name } mine { name } }');
    expect([await shared(own, ADA), await shared(own, BOB)]).toEqual([STORED, STORED]);
    expect(await shared(own, ADA)).toMatch(HIT);
  });

  it('sends a stale result while one execution replaces it, keeps it when that fails, and sends none after a mutation', async () => {
    const query = fresh('{ brief }');
    const read = async (headers: Headers = {}) => ask(query, headers, { url: `${sharing.url}/graphql` });
    state.name = 'old';
    expect(statusOf(await read())).toBe(STORED);
    state.name = 'new';
    federation.intercept = () => ({ errors: [{ message: 'broken' }] });
    const before = federation.received.length;
    await until(async () => {
      const reply = await read();
      expect([reply.body.data, statusOf(reply)]).toEqual([{ brief: 'old' }, expect.stringMatching(/^Trestle; hit; ttl=/)]);
      return federation.received.length > before + 1;
    });
    federation.intercept = undefined;
    await until(async () => {
      const reply = await read();
      expect(statusOf(reply)).toMatch(/^Trestle; hit; ttl=/);
      return reply.body.data?.['brief'] === 'new';
    });
    await ask('mutation { touch(name: "newest") }', ADA, { url: `${sharing.url}/graphql` });
    expect((await read(ADA)).body.data).toEqual({ brief: 'newest' });
  });

  it('does not exceed its bytes, and keeps what was used last', async () => {
    const long = (length: number) => `{ long(length: ${String(length)}) }`;
    for (let i = 0; i < 40; i++) await shared(long(20_000 + i));
    const bytes = await readMetric(sharing.url, 'trestle_response_cache_bytes');
    expect(bytes).toBeGreaterThan(200_000);
    expect(bytes).toBeLessThanOrEqual(300_000);
    expect(await shared(long(20_039))).toMatch(HIT);
    expect(await shared(long(20_000))).toBe(STORED);
  });
});

describe('POST /response-cache', () => {
  const post = (body: unknown, headers: Headers = { authorization: `Bearer ${KEY}` }) =>
    request(`${federation.gateway.url}/response-cache`, { method: 'POST', body, headers });
  const sendTags = (tags: Headers) => {
    federation.intercept = (_, __, response) => {
      for (const [name, value] of Object.entries(tags)) response.setHeader(name, value);
    };
  };

  it('answers 401 without the key, 405 to other methods, and 404 where no key is set', async () => {
    for (const headers of [{}, { authorization: `Bearer ${KEY}x` }, { authorization: KEY }, ADA])
      expect((await post({ all: true }, headers as Headers)).status).toBe(401);
    const { status, headers } = await request(`${federation.gateway.url}/response-cache`, {
      method: 'GET',
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect((await request(`${sharing.url}/response-cache`, { method: 'POST', body: { all: true } })).status).toBe(404);
  });

  it('refuses bodies that are malformed or too large', async () => {
    const bad = [
      '{',
      [],
      {},
      { tags: 'a' },
      { tags: ['a,b'] },
      { tags: [''] },
      { tags: [1] },
      { types: ['a b'] },
      { all: 1 },
      { other: [] },
    ];
    for (const body of [...bad, { tags: Array.from({ length: 1001 }, () => 'a') }])
      expect([body, (await post(body)).status]).toEqual([body, 400]);
    expect((await post({ tags: ['x'.repeat(1_100_000)] })).status).toBe(413);
  });

  it('invalidates results by the tags of Cache-Tag and Surrogate-Key, by type, and all', async () => {
    sendTags({ 'cache-tag': 'lamp-1, shop', 'surrogate-key': 'north  blue' });
    const tagged = fresh('{ lamp { name } }');
    await ask(tagged);
    federation.intercept = undefined;
    const other = fresh('{ other { name } }');
    for (const [body, ofTagged, ofOther] of [
      [{ tags: ['lamp'] }, 0, 0],
      [{ tags: ['x', 'shop'] }, 1, 0],
      [{ types: ['Other'] }, 0, 1],
      [{ types: ['Lamp'] }, 1, 0],
      [{ all: true }, 1, 1],
    ] as const) {
      sendTags({});
      await ask(other);
      sendTags({ 'cache-tag': 'lamp-1, shop', 'surrogate-key': 'north  blue' });
      await ask(tagged);
      expect((await post(body)).status).toBe(200);
      expect([body, await fetchesOf(tagged, {}), await fetchesOf(other, {})]).toEqual([body, [ofTagged], [ofOther]]);
    }
    expect((await post({ tags: ['blue'] })).status).toBe(200);
    expect(await fetchesOf(tagged, {})).toEqual([1]);
  });

  it('is what a mutation does with the tags that its subgraph sends', async () => {
    sendTags({ 'cache-tag': 'lamp-7' });
    const query = fresh('{ lamp { name } }');
    for (const headers of [ADA, BOB]) await ask(query, headers);
    await ask('mutation { touch(name: "tagged") }', ADA);
    expect(await fetchesOf(query, BOB)).toEqual([1]);
  });

  it('keeps no result with more tags than it may have, or with one that is none', async () => {
    for (const tags of [Array.from({ length: 201 }, (_, i) => `t${String(i)}`).join(), 'x'.repeat(129)]) {
      sendTags({ 'cache-tag': tags });
      expect(statusOf(await ask(fresh('{ lamp { name } }')))).toBe('Trestle; fwd=uri-miss');
    }
  });
});

(redis ? describe : describe.skip)('a cache in Redis', () => {
  let gateways: RunningProcess[] = [];
  beforeAll(async () => {
    const file = join(folder, 'supergraph.graphql');
    // Results of other runs have other keys.
    await writeFile(file, `${federation.supergraphSdl}\n# ${randomUUID()}\n`);
    const env = { RESPONSE_CACHE: 'redis', RESPONSE_CACHE_SHARING: 'all', REDIS_URL: redis?.url ?? '', RESPONSE_CACHE_TIMEOUT_MS: '3000' };
    const start = (more: Headers = {}) => startGateway(['--supergraph', file, '--port', '0', '--auth', 'off'], { ...env, ...more });
    gateways = await Promise.all([start(), start({ REDIS_URL: redis?.directUrl ?? '' })]);
  });
  afterAll(async () => {
    await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')));
    await redis?.stop();
  });

  const via = (index: number, query: string, headers: Headers = {}) =>
    ask(query, headers, { url: `${gateways[index]?.url ?? ''}/graphql` });

  it('is shared by gateways, and no gateway answers a client with a result that is older than its mutation at another', async () => {
    const query = fresh('{ lamp { name price } }');
    await until(async () => (statusOf(await via(0, query, ADA)) ?? '').includes('; hit'));
    await until(async () => (statusOf(await via(1, query, BOB)) ?? '').includes('; hit'));
    for (let i = 0; i < 20; i++) {
      const name = `shared ${String(i)}`;
      await via(i % 2, `mutation { touch(name: "${name}") }`, ADA);
      expect((await via((i + 1) % 2, query, ADA)).body.data).toEqual({ lamp: { name, price: state.price } });
      expect((await via(i % 2, query, ADA)).body.data).toEqual({ lamp: { name, price: state.price } });
    }
  });

  it('that does not answer, or is gone, fails no request, and is used again when it is back', async () => {
    const query = fresh('{ lamp { name } }');
    for (const [lose, bring] of [
      [() => redis?.hold(), () => redis?.release()],
      [() => redis?.kill(), () => redis?.revive()],
    ] as const) {
      await lose();
      state.name = `lost ${String(next++)}`;
      expect((await via(0, query)).body.data).toEqual({ lamp: { name: state.name } });
      const name = `changed ${String(next++)}`;
      expect((await via(0, `mutation { touch(name: "${name}") }`)).body.data).toEqual({ touch: true });
      expect((await via(0, query)).body.data).toEqual({ lamp: { name } });
      expect(statusOf(await via(0, query))).toBe('Trestle; fwd=bypass');
      await bring();
      await until(async () => (statusOf(await via(0, query)) ?? '').includes('; hit'));
      expect((await via(0, query)).body.data).toEqual({ lamp: { name } });
    }
  });
});
