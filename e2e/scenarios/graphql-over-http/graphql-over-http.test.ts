/** The gateway against the GraphQL-over-HTTP specification, and its extensions: documents by id, batches, costs, snapshots. */
import { createHash } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { request, until } from '../../stack/clients/client.ts';
import { type Answer, type Federation, startFederation } from '../../stack/federation/federation.ts';

const TEXT = '{ hello }';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const subgraphs = {
  greetings: {
    sdl: `type Query { hello(name: String = "you"): String list(first: Int): [Item!]! } type Mutation { bow: String }
      type Item { id: ID! items(first: Int): [Item!]! }`,
    resolvers: {
      Query: {
        hello: (_: unknown, { name }: { name: string }) => `Hello ${name}`,
        list: () => Array.from({ length: 200 }, (_, id) => ({ id, items: [] })),
      },
      Mutation: { bow: () => 'bowed' },
    },
  },
};

let home: string;
let federation: Federation;
let strict: Federation;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-documents-'));
  const file = join(home, 'documents.json');
  const clients = [
    { name: 'web', version: '2', documents: { hello: TEXT } },
    { documents: { greet: 'query Greet($name: String) { hello(name: $name) }' } },
  ];
  await writeFile(file, JSON.stringify({ clients }));
  federation = await startFederation(subgraphs, {
    env: { MAX_BATCH: '3', TRUSTED_DOCUMENTS_FILE: file, TRUSTED_DOCUMENTS_LOG_UNKNOWN: 'on' },
  });
  strict = await startFederation(subgraphs, {
    env: { TRUSTED_DOCUMENTS_FILE: file, TRUSTED_DOCUMENTS_ONLY: 'on', TRUSTED_DOCUMENTS_LOG_UNKNOWN: 'on', MAX_COST: '50' },
  });
});
afterAll(async () => {
  await federation.stop();
  await strict.stop();
  await rm(home, { recursive: true, force: true });
});

const post = (body: unknown, { to = federation, headers = {} }: { to?: Federation; headers?: Record<string, string> } = {}) =>
  request(to.url, { method: 'POST', body, headers });
const answerOf = (reply: { body: unknown }) => reply.body as Answer;

it('passes every audit of graphql-http', async () => {
  const results = await Promise.all(serverAudits({ url: () => federation.url, fetchFn: fetch }).map((audit) => audit.fn()));
  const failed = results
    .filter(({ status }) => status !== 'ok')
    .map((result) => `${result.id} ${result.name}: ${result.status === 'ok' ? '' : result.reason}`);
  expect(failed).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(61);
});

it('counts and logs documents that are not trusted, whether they are executed or refused', async () => {
  for (const [to, result] of [
    [federation, 'executed'],
    [strict, 'refused'],
  ] as const) {
    for (let i = 0; i < 2; i++) await post({ query: 'query Unlisted { hello }' }, { to });
    const { text } = await request(`${to.gateway.url}/metrics`, { method: 'GET' });
    expect(text).toMatch(new RegExp(`trestle_unknown_documents_total\\{result="${result}"\\} [1-9]`));
    await until(() => Promise.resolve(to.gateway.lines.join('').includes(`${result} a document that is not trusted`)));
    expect(to.gateway.lines.join('')).not.toContain('Unlisted {');
  }
});

describe('a request', () => {
  it.each([
    ['no JSON', '{'],
    ['JSON but no object', '7'],
    ['a query that is no string', { query: 7 }],
    ['no query', {}],
    ['variables that are a list', { query: TEXT, variables: [] }],
    ['an operation name that is a number', { query: TEXT, operationName: 1 }],
    ['variables that the operation does not take', { query: 'query($name: String) { hello(name: $name) }', variables: { name: 7 } }],
    ['half a surrogate pair in an unknown field', '{"query":"{ \\ud800 }"}'],
  ])('with %s is 400 with a code', async (_, body) => {
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(answerOf(reply).errors?.[0]?.extensions).toMatchObject({
      code: 'VALIDATION_ERROR',
      requestId: reply.headers.get('x-request-id'),
    });
  });

  it('gets 415 for another type, 413 when it is too large, and 406 for an unavailable type', async () => {
    expect((await post('query=1', { headers: { 'content-type': 'application/x-www-form-urlencoded' } })).status).toBe(415);
    expect((await post(JSON.stringify({ query: TEXT }), { headers: { 'content-type': 'application/json; charset=utf-16' } })).status).toBe(
      415,
    );
    expect((await post(JSON.stringify({ query: `{ hello # ${'x'.repeat(1024 * 1024)}\n }` }))).status).toBe(413);
    expect((await post({ query: TEXT }, { headers: { accept: 'text/plain' } })).status).toBe(406);
  });

  it('gets 200 for an invalid document when it accepts application/json, and 400 for the GraphQL type', async () => {
    expect((await post({ query: '{ nope }' }, { headers: { accept: 'application/json' } })).status).toBe(200);
    expect((await post({ query: '{ nope }' }, { headers: { accept: 'application/graphql-response+json' } })).status).toBe(400);
  });

  it('gets a compressed response when that is large and the client accepts it', async () => {
    const reply = await post({ query: '{ list(first: 200) { id } }' }, { headers: { 'accept-encoding': 'br' } });
    expect([reply.headers.get('content-encoding'), (answerOf(reply).data?.['list'] as unknown[]).length]).toEqual(['br', 200]);
  });

  it('is rejected when it is a mutation by GET', async () => {
    const reply = await request(`${federation.url}?query=${encodeURIComponent('mutation { bow }')}`, { method: 'GET' });
    expect([reply.status, reply.headers.get('allow'), answerOf(reply).errors?.[0]?.extensions['code']]).toEqual([
      405,
      'POST',
      'METHOD_NOT_ALLOWED',
    ]);
  });

  it('has its fetches cancelled when its client disconnects', async () => {
    let closed = false;
    let arrived = false;
    federation.intercept = (_, incoming) => {
      arrived = true;
      incoming.socket.once('close', () => (closed = true));
      return new Promise(() => undefined);
    };
    const leaving = httpRequest(federation.url, { method: 'POST', headers: { 'content-type': 'application/json' } });
    leaving.on('error', () => undefined);
    leaving.end(JSON.stringify({ query: TEXT }));
    await until(() => Promise.resolve(arrived));
    leaving.destroy();
    await until(() => Promise.resolve(closed));
    federation.intercept = undefined;
  });
});

describe('a document', () => {
  it('can be stored and requested by its hash (automatic persisted queries)', async () => {
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256('{ hello(name: "hash") }') } };
    const unknown = await post({ extensions });
    expect([unknown.status, answerOf(unknown).errors?.[0]?.message]).toEqual([200, 'PersistedQueryNotFound']);
    expect((await post({ query: TEXT, extensions })).status).toBe(400);
    expect(answerOf(await post({ query: '{ hello(name: "hash") }', extensions })).data).toEqual({ hello: 'Hello hash' });
    expect(answerOf(await post({ extensions })).data).toEqual({ hello: 'Hello hash' });
    const search = `?extensions=${encodeURIComponent(JSON.stringify(extensions))}`;
    expect(answerOf(await request(federation.url + search, { method: 'GET' })).data).toEqual({ hello: 'Hello hash' });
  });

  it('can be requested by its id by its clients when it is trusted', async () => {
    const web = { 'apollographql-client-name': 'web', 'apollographql-client-version': '2' };
    expect(answerOf(await post({ documentId: 'hello' }, { headers: web })).data).toEqual({ hello: 'Hello you' });
    expect((await post({ documentId: 'hello' })).status).toBe(404);
    expect(answerOf(await post({ documentId: 'greet', variables: { name: 'all' } })).data).toEqual({ hello: 'Hello all' });
    expect((await post({ documentId: 'greet', query: TEXT })).status).toBe(400);
  });

  it('is rejected when only trusted ones are executed', async () => {
    expect((await post({ query: TEXT }, { to: strict })).status).toBe(403);
    expect((await post({ documentId: 'greet' }, { to: strict })).status).toBe(200);
    const extensions = { persistedQuery: { version: 1, sha256Hash: sha256(TEXT) } };
    expect((await post({ query: TEXT, extensions }, { to: strict })).status).toBe(403);
  });
});

describe('several operations at once', () => {
  it('are answered in order, each with its own result, up to the limit', async () => {
    const reply = await post([{ query: TEXT }, { query: '{ nope }' }, 7]);
    const answers = reply.body as Answer[];
    expect(answers.map(({ data, errors }) => data?.['hello'] ?? errors?.[0]?.extensions['code'])).toEqual([
      'Hello you',
      'VALIDATION_ERROR',
      'VALIDATION_ERROR',
    ]);
    for (const { errors = [] } of answers.slice(1)) expect(errors[0]?.extensions['requestId']).toBe(reply.headers.get('x-request-id'));
    expect((await post([{}, {}, {}, {}])).text).toContain('exceeds the limit of 3');
    expect((await post([{ query: TEXT }], { to: strict })).status).toBe(400);
  });
});

describe('the extensions of a result', () => {
  it('have the estimated cost, the supergraph and the plan on request', async () => {
    const query = 'query($n: Int) { list(first: $n) { id items(first: 2) { id } } }';
    const headers = { 'trestle-cost': '1', 'trestle-snapshot': '1', 'trestle-plan': '1' };
    const { extensions } = answerOf(await post({ query, variables: { n: 3 } }, { headers }));
    // Three items with two each; it gives two hundred without any.
    expect(extensions).toMatchObject({
      cost: { estimated: 9, actual: 200 },
      supergraph: { hash: expect.stringMatching(/^[0-9a-f]{16}$/) },
    });
    expect(extensions?.['plan']).toMatchObject({
      kind: 'fetch',
      service: 'greetings',
      path: '',
      sentMs: expect.any(Number),
      durationMs: expect.any(Number),
    });
    expect(answerOf(await post({ query }))).not.toHaveProperty('extensions');
  });

  it('have a cost that includes the weights of arguments', async () => {
    const weighed = await startFederation(
      {
        shop: {
          sdl: `type Query { find(by: [Filter!], deep: Boolean @cost(weight: 5), order: Order): String }
            input Filter { text: String @cost(weight: 20) not: Filter } enum Order @cost(weight: 3) { UP DOWN }`,
          resolvers: { Query: { find: () => 'found' } },
        },
      },
      { env: { MAX_COST: '50' } },
    );
    try {
      const query = 'query($by: [Filter!]) { find(by: $by, deep: true, order: UP) }';
      const { body } = await weighed.ask(query, { by: [{ text: 'a' }, {}] }, { 'trestle-cost': '1' });
      expect(body).toEqual({ data: { find: 'found' }, extensions: { cost: { estimated: 30, actual: 30 } } });
      expect((await weighed.ask(query, { by: [{ text: 'a' }, { not: { text: 'b' } }] })).status).toBe(400);
    } finally {
      await weighed.stop();
    }
  });
});

describe('an operation whose estimated cost exceeds the limit', () => {
  const query = 'query Many($n: Int) { list(first: $n) { id } }';
  const file = () => join(home, 'costly.yaml');
  let costly: Federation;
  beforeAll(async () => {
    await writeFile(file(), 'limits: { maxCost: 50 }\n');
    costly = await startFederation(subgraphs, { args: ['--config', file()] });
  });
  afterAll(() => costly.stop());
  const ask = (n: number) => costly.ask(query, { n });
  const readMetrics = async () => {
    const { text } = await request(`${costly.gateway.url}/metrics`, { method: 'GET' });
    const read = (series: string) =>
      Number(
        text
          .split('\n')
          .find((line) => line.startsWith(`${series} `))
          ?.slice(series.length),
      );
    const over = (outcome: string) => read(`trestle_operations_over_cost_limit_total{operation="Many",outcome="${outcome}"}`);
    const [estimated, actual] = ['estimated', 'actual'].map((kind) => read(`trestle_operation_cost_${kind}_sum`));
    return { refused: over('refused'), executed: over('executed'), estimated, actual };
  };

  it('is refused with the limit and the value, and counted', async () => {
    const reply = await ask(51);
    expect([reply.status, reply.body.errors?.[0]?.message]).toEqual([400, 'Estimated cost 51 exceeds the limit of 50.']);
    expect((await ask(50)).status).toBe(200);
    expect(await readMetrics()).toEqual({ refused: 1, executed: NaN, estimated: 101, actual: 0 });
  });

  it('is executed and counted, with the cost of its result, once limits.costMode is measure', async () => {
    const introspection = '{ __schema { types { fields { args { name } type { name } } } } }';
    expect((await costly.ask(introspection)).status).toBe(400);
    await writeFile(`${file()}.next`, 'limits: { maxCost: 50, costMode: measure }\n');
    await rename(`${file()}.next`, file());
    await until(async () => (await ask(51)).status === 200);
    const before = await readMetrics();
    const { status, body } = await ask(51);
    expect([status, Object.keys(body)]).toEqual([200, ['data']]);
    expect(body.data?.['list']).toHaveLength(200);
    const { executed, estimated = 0, actual = 0, refused } = before;
    expect(await readMetrics()).toEqual({ refused, executed: executed + 1, estimated: estimated + 51, actual: actual + 200 });
    expect((await costly.ask(introspection)).status).toBe(200);
  });
});
