/** Reports of usage as the registry takes them: once each, bounded, and refused when they are hostile; and its pages. */
import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { readMetric, request } from '../../stack/clients/client.ts';
import { type TestRegistry, LINK, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { checkSubgraph, createToken, readUsage } from './usage-client.ts';

const SDL = `${LINK}\ntype Query { a: Int b: Int c(by: By): Int }\ninput By { x: Int y: Int }`;

let registry: TestRegistry;
let token: string;
let environment: string;
beforeAll(async () => {
  registry = await startRegistry();
  token = await createToken(registry, ['REPORT']);
});
afterAll(() => registry.stop());
beforeEach(async () => {
  environment = newEnvironment();
  await publish(registry, environment, { users: SDL });
});

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const operation = (text: string, uses: readonly string[] = []) => ({ hash: hashOf(text), name: null, text, uses });
const toMinute = (at: number) => new Date(Math.floor(at / 60_000) * 60_000).toISOString();
// eslint-disable-next-line size/max-params -- the four numbers of a row
const row = (operationIndex: number, clientIndex: number, count: number, errors = 0) => {
  return { operation: operationIndex, client: clientIndex, count, errors, durations: [0, count, ...new Array<number>(16).fill(0)] };
};
const WEB = { name: 'web', version: '1' };
const report = (given: object = {}) => {
  const operations = [operation('{a}', ['Query.a'])];
  return { id: randomUUID(), minute: toMinute(Date.now()), operations, clients: [WEB], rows: [row(0, 0, 2)], ...given };
};
const send = (body: unknown, { secret = token, to = environment, headers = {} } = {}) =>
  request(`${registry.url}/usage/${to}`, { method: 'POST', body, token: secret, headers });

describe('POST /usage/{environment}', () => {
  it('counts a report once, however often and however concurrently it is sent', async () => {
    const given = report();
    const replies = await Promise.all(Array.from({ length: 8 }, () => send(given)));
    expect(replies.map(({ status }) => status)).toEqual(new Array(8).fill(200));
    const duplicates = replies.map(({ body }) => (body as { isDuplicate: boolean }).isDuplicate);
    expect(duplicates.filter((each) => !each)).toHaveLength(1);
    expect((await send(given)).body).toEqual({ isDuplicate: true, missing: [] });
    expect(await readUsage(registry, environment)).toMatchObject({ requests: 2 });
    expect(await readMetric(registry.url, 'trestle_registry_usage_reports_total{result="duplicate"}')).toBeGreaterThanOrEqual(8);
  });

  it('adds concurrent reports of many gateways up, whose operations are the same in other orders', async () => {
    const texts = Array.from({ length: 50 }, (_, i) => `{a${String(i)}}`);
    const reports = Array.from({ length: 20 }, (_, i) => {
      const order = i % 2 === 0 ? texts : [...texts].reverse();
      return report({ operations: order.map((text) => operation(text)), rows: order.map((_text, at) => row(at, 0, 3, 1)) });
    });
    for (const { status } of await Promise.all(reports.map((each) => send(each)))) expect(status).toBe(200);
    const usage = await readUsage(registry, environment);
    expect(usage).toMatchObject({ requests: 3000, errors: 1000 });
    expect(new Set(usage.operations.map(({ requests }) => requests))).toEqual(new Set([60]));
  });

  it('asks for the text of an operation that it does not know, and takes it later', async () => {
    const [{ hash, name }] = [operation('{b}')];
    expect((await send(report({ operations: [{ hash, name }] }))).body).toEqual({ isDuplicate: false, missing: [hash] });
    expect(
      (await checkSubgraph(registry, environment, { sdl: SDL.replace('a: Int', ''), policy: { enoughDays: 0, enoughRequests: 0 } }))
        .verdict,
    ).toBe('NOT_ENOUGH_DATA');
    expect((await send(report({ operations: [operation('{b}')] }))).body).toEqual({ isDuplicate: false, missing: [] });
    expect((await send(report({ operations: [{ hash, name }] }))).body).toEqual({ isDuplicate: false, missing: [] });
    expect(await readUsage(registry, environment)).toMatchObject({ operations: [{ text: '{b}', requests: 6 }] });
  });

  it.each([
    ['JSON that is no object', []],
    ['an unknown member', report({ variables: { email: 'ada@example.com' } })],
    ['an id that is no UUID', report({ id: '1' })],
    ['a minute that is no minute', report({ minute: '2026-01-31T12:00:01Z' })],
    ['a minute of long ago', report({ minute: toMinute(Date.now() - 25 * 3_600_000) })],
    ['a minute of the future', report({ minute: toMinute(Date.now() + 10 * 60_000) })],
    ['no rows', report({ rows: [] })],
    ['too many rows', report({ rows: Array.from({ length: 2001 }, () => row(0, 0, 1)) })],
    ['the same row twice', report({ rows: [row(0, 0, 1), row(0, 0, 1)] })],
    ['a row of an operation that is not there', report({ rows: [row(1, 0, 1)] })],
    ['a row of a negative client', report({ rows: [row(0, -1, 1)] })],
    ['a negative count', report({ rows: [row(0, 0, -1)] })],
    ['a count that is no whole number', report({ rows: [row(0, 0, 1.5)] })],
    ['a count beyond the limit', report({ rows: [row(0, 0, 2e9)] })],
    ['more errors than requests', report({ rows: [row(0, 0, 1, 2)] })],
    ['durations that do not add up', report({ rows: [{ ...row(0, 0, 2), durations: new Array(18).fill(0) }] })],
    ['a text of another hash', report({ operations: [{ ...operation('{a}'), text: '{b}' }] })],
    ['the same operation twice', report({ operations: [operation('{a}'), operation('{a}')] })],
    ['a name that is no name', report({ operations: [{ ...operation('{a}'), name: 'A B' }] })],
    ['a use that is no coordinate', report({ operations: [operation('{a}', ["'; DROP TABLE tokens"])] })],
    ['a client with a control character', report({ clients: [{ name: 'web\n', version: null }] })],
    ['a client with a long name', report({ clients: [{ name: 'x'.repeat(101), version: null }] })],
    ['U+0000 in a name', report({ clients: [{ name: 'a\0', version: null }] })],
  ])('refuses %s, and records nothing of it', async (_, body) => {
    expect(await send(body)).toMatchObject({ status: 400, body: { errors: [{ extensions: { code: 'VALIDATION_ERROR' } }] } });
    expect(await readUsage(registry, environment)).toMatchObject({ requests: 0, operations: [] });
  });

  it('refuses what is too large, no JSON, or not said to be JSON', async () => {
    expect(await send(report({ padding: 'x'.repeat(5 * 1024 * 1024) }))).toMatchObject({ status: 413 });
    expect(await send('{')).toMatchObject({ status: 400 });
    expect(await send(report(), { headers: { 'content-type': 'text/plain' } })).toMatchObject({ status: 415 });
    expect(await request(`${registry.url}/usage/${environment}`, { method: 'GET', token })).toMatchObject({ status: 405 });
    expect(await readUsage(registry, environment)).toMatchObject({ requests: 0 });
  });

  it('takes the largest report, and refuses one of a million lists before it parses them', async () => {
    const operations = Array.from({ length: 2000 }, (_, i) => operation(`{a${String(i)}}`, ['Query.a']));
    const clients = operations.map((_, i) => ({ name: 'web', version: String(i) }));
    const rows = operations.map((_, i) => row(i, i, 1));
    expect(await send(report({ operations, clients, rows }))).toMatchObject({ status: 200 });
    const body = `{"rows":[${new Array(1_000_000).fill('[]').join()}]}`;
    const message = 'Request body has more than 40000 objects, lists and names.';
    expect(await send(body)).toMatchObject({ status: 400, body: { errors: [{ message }] } });
  });

  it('needs a token with the scope REPORT that is valid for the environment', async () => {
    expect(await send(report(), { secret: 'trestle_reg_0' })).toMatchObject({ status: 401 });
    expect(await send(report(), { secret: await createToken(registry, ['READ', 'CHECK', 'PUBLISH']) })).toMatchObject({ status: 403 });
    expect(await send(report(), { secret: await createToken(registry, ['REPORT'], ['other']) })).toMatchObject({ status: 403 });
    expect(await send(report(), { to: newEnvironment() })).toMatchObject({ status: 404 });
    expect(await send(report(), { secret: await createToken(registry, ['REPORT'], [environment]) })).toMatchObject({ status: 200 });
  });

  it('takes clients without a name, and names in other alphabets', async () => {
    const clients = [{ name: null, version: null }, { name: 'Wëb ☂', version: null }, WEB]; // prettier-ignore
    expect(await send(report({ clients, rows: [row(0, 0, 1), row(0, 1, 2), row(0, 2, 3)] }))).toMatchObject({ status: 200 });
    const { clients: listed } = await readUsage(registry, environment);
    expect(listed.map(({ name, requests }) => [name, requests])).toEqual([
      ['web', 3],
      ['Wëb ☂', 2],
      [null, 1],
    ]);
  });
});

describe('Environment.usage', () => {
  const read = async <Data>(fields: string, variables: object = {}): Promise<Data> => {
    const query = `query ($name: String!, $after: ID, $key: String) { environment(name: $name) { usage { ${fields} } } }`;
    const used = { name: environment, after: null, key: null, ...variables };
    const { data, errors } = await registry.graphql<{ environment: { usage: Data } | null }>(query, used);
    if (!data?.environment) throw new Error(errors.map(({ extensions, message }) => `${extensions.code} ${message}`).join('; '));
    return data.environment.usage;
  };
  const IGNORED = '@include(if: false) { hash }';
  const unused = `o: operations(after: $after) ${IGNORED} f: fields(after: $key) @include(if: false) { coordinate }`;
  beforeEach(async () => {
    const operations = [
      operation('{a}', ['Query.a']),
      operation('{a b}', ['Query.a', 'Query.b']),
      operation('query($by:By){c(by:$by)}', ['Query.c', 'Query.c(by:)', '<By?']),
      operation('{c(by:{x:0})}', ['Query.c', 'Query.c(by:)', 'By.x']),
    ];
    const clients = [WEB, { name: 'web', version: '2' }, { name: null, version: null }];
    const rows = [row(0, 0, 10), row(0, 1, 5), row(1, 0, 4, 2), row(2, 2, 2), row(3, 2, 1)];
    expect(await send(report({ operations, clients, rows }))).toMatchObject({ status: 200 });
  });

  it('lists operations by traffic in pages, with shares and percentiles', async () => {
    const page = `operations(first: 2, after: $after) { hash text requests percent errors p50Ms p95Ms } ${unused}`;
    const listed: { hash: string; text: string; requests: number }[] = [];
    for (let after: string | null = null; after !== ''; after = listed.length % 2 === 0 ? (listed.at(-1)?.hash ?? '') : '') {
      const { operations } = await read<{ operations: typeof listed }>(page, { after });
      if (operations.length === 0) break;
      listed.push(...operations);
    }
    expect(listed.map(({ text, requests }) => [text, requests])).toEqual([
      ['{a}', 15],
      ['{a b}', 4],
      ['query($by:By){c(by:$by)}', 2],
      ['{c(by:{x:0})}', 1],
    ]);
    expect(listed[1]).toMatchObject({ percent: 18.1818, errors: 2, p50Ms: 0.5, p95Ms: 0.5 });
  });

  it('finds one operation, its clients in pages, and its hours', async () => {
    const hash = hashOf('{a}');
    const fields = `operation(hash: "${hash}") { text requests } clients(operation: "${hash}", first: 1, after: $after) { id name version requests }
      hours(operation: "${hash}") { hour requests errors } missing: operation(hash: "00") { text } ${unused}`;
    interface Found {
      clients: { id: string; version: string }[];
      hours: { hour: string }[];
    }
    const first = await read<Found>(fields);
    expect(first).toMatchObject({ operation: { text: '{a}', requests: 15 }, missing: null, clients: [{ version: '1', requests: 10 }] });
    expect(first.hours).toMatchObject([{ hour: expect.stringMatching(/T\d\d:00:00Z$/), requests: 15, errors: 0 }]);
    expect((await read<Found>(fields, { after: first.clients[0]?.id })).clients).toMatchObject([{ version: '2', requests: 5 }]);
    await expect(read(fields, { after: 'x' })).rejects.toThrow('VALIDATION_ERROR');
  });

  it('lists coordinates with their traffic, and the operations that use one, also by a variable', async () => {
    const fields = `fields(first: 4, after: $key) { coordinate requests operations } ${unused}`;
    interface Found {
      fields: { coordinate: string; requests: number; operations: number }[];
    }
    const first = (await read<Found>(fields)).fields;
    const rest = (await read<Found>(fields, { key: first.at(-1)?.coordinate })).fields;
    expect([...first, ...rest].map((each) => [each.coordinate, each.requests, each.operations])).toEqual([
      ['By', 2, 1],
      ['By.x', 1, 1],
      ['Query.a', 19, 2],
      ['Query.b', 4, 1],
      ['Query.c', 3, 2],
      ['Query.c(by:)', 3, 2],
    ]);
    const users = `operations(coordinate: "By.x") { text } by: operations(coordinate: "By.y") { text }
      only: fields(type: "By") { coordinate } ${unused}`;
    expect(await read(users)).toEqual({
      operations: [{ text: 'query($by:By){c(by:$by)}' }, { text: '{c(by:{x:0})}' }],
      by: [{ text: 'query($by:By){c(by:$by)}' }],
      only: [{ coordinate: 'By' }, { coordinate: 'By.x' }],
    });
  });

  it('shows nothing of another environment, and refuses windows and pages out of range', async () => {
    const other = newEnvironment();
    await publish(registry, other, { users: SDL });
    expect(await readUsage(registry, other)).toEqual({ requests: 0, errors: 0, operations: [], clients: [] });
    await expect(read(`operations(first: 101) { hash } ${unused}`)).rejects.toThrow('VALIDATION_ERROR');
    const { errors } = await registry.graphql('{ environments { usage(days: 401) { requests } } }');
    expect(errors[0]?.extensions.code).toBe('VALIDATION_ERROR');
    const reader = await createToken(registry, ['READ'], [other]);
    const query = `{ environment(name: "${environment}") { usage { requests } } }`;
    expect((await registry.graphql(query, {}, reader)).errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});

describe('checkSubgraphs', () => {
  it('has not enough data for a breaking change when more operations are registered than it validates', async () => {
    await send(report({ operations: [operation('{a}', ['Query.a'])] }));
    const database = new pg.Client({ connectionString: registry.databaseUrl });
    await database.connect();
    await database.query(
      `INSERT INTO "operations" ("id", "environment", "client", "hash", "name", "text")
       SELECT $1 || n, $1, 'web', n::text, 'Q' || n, 'query Q' || n || ' { ' || CASE n WHEN 9999 THEN 'b' ELSE 'a' END || ' }'
       FROM generate_series(4999, 9999) n`,
      [environment],
    );
    await database.end();
    const policy = { enoughDays: 0, enoughRequests: 0 };
    // By its name the operation that uses `b` is behind all others.
    expect(await checkSubgraph(registry, environment, { sdl: SDL.replace('b: Int', ''), policy })).toMatchObject({
      verdict: 'NOT_ENOUGH_DATA',
      changes: [{ coordinate: 'Query.b', verdict: 'NOT_ENOUGH_DATA' }],
    });
    expect(await checkSubgraph(registry, environment, { sdl: SDL.replace('b: Int', 'b: Int d: Int'), policy })).toMatchObject({
      verdict: 'PASSED',
    });
  });
});

describe('approveCheck', () => {
  it('accepts what has not enough data, for later checks too', async () => {
    await send(report({ operations: [operation('{a}', ['Query.a'])] }));
    const changed = SDL.replace('b: Int', '');
    const { id, verdict } = await checkSubgraph(registry, environment, changed);
    expect(verdict).toBe('NOT_ENOUGH_DATA');
    const approve = 'mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict } }';
    const { data } = await registry.graphql(approve, { input: { id, approver: 'Ada', reason: 'new' } });
    expect(data).toEqual({ approveCheck: { verdict: 'APPROVED' } });
    expect(await checkSubgraph(registry, environment, changed)).toMatchObject({ verdict: 'PASSED', changes: [{ isApproved: true }] });
  });

  it('does not accept a breaking change that passed because nothing used it: a later check fails when a client does', async () => {
    const policy = { enoughDays: 0, enoughRequests: 0 };
    await send(report({ operations: [operation('{a}', ['Query.a'])] }));
    const changed = { sdl: SDL.replace('a: Int b: Int', ''), policy };
    const { id, ...failed } = await checkSubgraph(registry, environment, changed);
    expect(failed.changes).toMatchObject([
      { coordinate: 'Query.a', verdict: 'FAIL' },
      { coordinate: 'Query.b', verdict: 'PASS' },
    ]);
    await registry.graphql('mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict } }', {
      input: { id, approver: 'Ada', reason: 'the web client is updated' },
    });
    expect(await checkSubgraph(registry, environment, changed)).toMatchObject({ verdict: 'PASSED' });
    await send(report({ operations: [operation('{b}', ['Query.b'])] }));
    expect(await checkSubgraph(registry, environment, changed)).toMatchObject({
      verdict: 'FAILED',
      changes: [{ isApproved: true }, { coordinate: 'Query.b', verdict: 'FAIL', isApproved: false }],
    });
  });
});
