/** Requests that are valid and were once refused or answered in another form, and the limits that HTTP sets to all requests. */
import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { createHarbours } from '../../stack/federation/harbours.ts';

const harbours = createHarbours();
let federation: Federation;
beforeAll(async () => {
  const { harbours: first, ...others } = harbours.sources;
  const sdl = `${first?.sdl ?? ''} 
    scalar JSON
    input Filter { and: [Filter!], not: Filter, any: JSON }
    extend type Query { echo(text: String): String json(value: JSON): JSON filter(by: Filter): JSON }`;
  const Query = {
    echo: (_: unknown, { text }: { text: string }) => text,
    json: (_: unknown, { value }: { value: unknown }) => value,
    filter: (_: unknown, { by }: { by: unknown }) => by,
  };
  const resolvers = { ...first?.resolvers, Query };
  federation = await startFederation({ ...others, harbours: { sdl, resolvers } });
});
afterEach(() => {
  federation.intercept = undefined;
});
afterAll(() => federation.stop());

const QUERY = '{ cargo }';
const get = (query: string, { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {}) =>
  request(`${federation.url}?query=${encodeURIComponent(query)}`, { method, headers });
const post = (body: string, headers: Record<string, string> = {}) =>
  request(federation.url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

// GraphQL §2.9.4: a string may hold any Unicode scalar value, U+0000 among them; whether it can be stored is for the store to say.
it('sends U+0000 to the subgraph in literals and in variables', async () => {
  expect((await federation.ask('{ echo(text: "a\\u0000b") }')).body).toEqual({ data: { echo: 'a\u0000b' } });
  expect((await federation.ask('{ echo(text: "a\\u{0}b") }')).body).toEqual({ data: { echo: 'a\u0000b' } });
  const query = 'query ($text: String) { echo(text: $text) }';
  expect((await federation.ask(query, { text: '\u0000' })).body).toEqual({ data: { echo: '\u0000' } });
});

// GraphQL §3.10, §3.5: neither input objects nor values of custom scalars have a limit of depth. 18 lists in each other took Apollo's planner seconds.
it.each([
  [
    'input objects',
    'filter(by: $v)',
    'Filter',
    (levels: number) => `${'{and:[{not:'.repeat(levels / 2)}{any:1}${'}]}'.repeat(levels / 2)}`,
  ],
  ['objects', 'json(value: $v)', 'JSON', (levels: number) => `${'{a:'.repeat(levels)}1${'}'.repeat(levels)}`],
  ['lists', 'json(value: $v)', 'JSON', (levels: number) => `${'['.repeat(levels)}1${']'.repeat(levels)}`],
])('sends %s 40 levels deep to the subgraph as a literal, a default and a variable', async (_, field, type, write) => {
  const literal = write(40);
  const value = JSON.parse(literal.replace(/[a-z]+/g, '"$&"')) as unknown;
  const name = field.split('(')[0] ?? '';
  const expected = { data: { [name]: value } };
  expect((await federation.ask(`{ ${field.replace('$v', literal)} }`)).body).toEqual(expected);
  expect((await federation.ask(`query ($v: ${type} = ${literal}) { ${field} }`)).body).toEqual(expected);
  expect((await federation.ask(`query ($v: ${type}) { ${field} }`, { v: value })).body).toEqual(expected);
});

it('answers 400 with level and limit to objects nested deeper than MAX_INPUT_DEPTH', async () => {
  const value = JSON.parse(`${'{"a":'.repeat(51)}1${'}'.repeat(51)}`) as unknown;
  const refused = await federation.ask('query ($v: JSON) { json(value: $v) }', { v: value });
  expect(refused.status).toBe(400);
  expect(refused.body.errors?.[0]?.message).toBe('`variables.v`: input object depth 51 exceeds the limit of 50.');
});

// RFC 8259 §8.1: JSON that is exchanged between systems is UTF-8.
it('answers 400 to a body that is not UTF-8', async () => {
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf0, 0x9f]]) {
    const body = Buffer.concat([Buffer.from('{"query":"{ echo(text: \\"'), Buffer.from(bytes), Buffer.from('\\") }"}')]);
    const status = await new Promise((resolve) => {
      httpRequest(federation.url, { method: 'POST', headers: { 'content-type': 'application/json' } }, (response) => {
        resolve(response.resume().statusCode);
      }).end(body);
    });
    expect(status).toBe(400);
  }
});

// RFC 9110 §9.3.2: HEAD is GET without the content.
describe('HEAD', () => {
  it('is answered with the status and the headers of GET, and no content', async () => {
    for (const query of [QUERY, '{ nope }', 'mutation { a }']) {
      const [head, full] = [await get(query, { method: 'HEAD' }), await get(query)];
      expect(head.text).toBe('');
      expect(head.status).toBe(full.status);
      for (const name of ['content-type', 'content-length', 'vary', 'cache-control', 'allow'])
        expect([name, head.headers.get(name)]).toEqual([name, full.headers.get(name)]);
    }
  });

  it('opens no stream', async () => {
    const accept = 'text/event-stream';
    expect(await get(QUERY, { method: 'HEAD', headers: { accept } })).toMatchObject({ status: 200, text: '' });
    const subscription = 'subscription { arrived { id } }';
    expect((await get(subscription, { method: 'HEAD', headers: { accept } })).status).toBe(200);
    expect(harbours.arrivals.listeners).toBe(0);
  });

  it('is among the methods of Allow', async () => {
    expect((await request(federation.url, { method: 'PATCH' })).headers.get('allow')).toContain('HEAD');
  });
});

// contract §6: URL 8 KiB, headers 16 KiB. RFC 9110 §15.5.15.
it('answers 414 to a URL above 8 KiB and 431 to headers above 16 KiB, and accepts a URL of 8 KiB', async () => {
  const urlOf = (length: number) => `/graphql?query=${encodeURIComponent(QUERY)}&pad=`.padEnd(length, 'x');
  const send = (path: string, headers: Record<string, string> = {}) =>
    request(`${federation.gateway.url}${path}`, { method: 'GET', headers });
  expect((await send(urlOf(8192))).status).toBe(200);
  expect(await send(urlOf(8193))).toMatchObject({ status: 414, body: { errors: [{ extensions: { code: 'URI_TOO_LONG' } }] } });
  expect((await send('/graphql', { 'x-large': 'x'.repeat(17_000) })).status).toBe(431);
});

// graphql-sse, "Distinct connections mode"; RFC 9110 §12.5.1.
describe('a client that prefers an event stream to JSON', () => {
  const accept = 'text/event-stream, application/json;q=0.5';
  it('gets the result of a query as an event', async () => {
    for (const reply of [await post(JSON.stringify({ query: QUERY }), { accept }), await get(QUERY, { headers: { accept } })]) {
      expect(reply.headers.get('content-type')).toMatch(/^text\/event-stream/);
      expect(reply.text).toContain('event: next\ndata: {"data":{"cargo":"grain"}}\n\nevent: complete\n');
    }
  });

  it('gets JSON for a query and a stream for a subscription when it accepts both with the same weight', async () => {
    const both = 'application/json, text/event-stream';
    expect((await post(JSON.stringify({ query: QUERY }), { accept: both })).body).toEqual({ data: { cargo: 'grain' } });
    const stream = await openEventStream(federation.url, { query: 'subscription { arrived { id } }', accept: both });
    expect(stream.response.headers['content-type']).toMatch(/^text\/event-stream/);
    stream.close();
    await until(() => Promise.resolve(harbours.arrivals.listeners === 0));
  });
});

it('answers a subscription in parts when the client accepts multipart/mixed only', async () => {
  const stream = await openEventStream(federation.url, { query: 'subscription { arrived { id } }', accept: 'multipart/mixed' });
  expect(stream.response.headers['content-type']).toBe('multipart/mixed;boundary="graphql";subscriptionSpec=1.0');
  await until(() => Promise.resolve(harbours.arrivals.listeners === 1));
  harbours.arrivals.publish({ id: 's1', name: 'One' });
  await until(() => Promise.resolve(stream.text.includes('{"payload":{"data":{"arrived":{"id":"s1"}}}}')));
  stream.close();
});

describe('a request with a wrong parameter', () => {
  it('gets a message that names the fault', async () => {
    const refused = await post(JSON.stringify({ query: 1, variables: [] }));
    expect(refused.body).toMatchObject({
      errors: [
        {
          message: '`query` must be a string; `variables` must be an object.',
          extensions: { code: 'VALIDATION_ERROR', details: [{ field: 'query' }, { field: 'variables' }] },
        },
      ],
    });
  });

  it('is refused with 400 for an operationName of more than 200 characters', async () => {
    const operationName = 'x'.repeat(201);
    expect((await post(JSON.stringify({ query: QUERY, operationName }))).text).toContain(
      '`operationName` length 201 exceeds the limit of 200.',
    );
  });
});

it('bounds the number of operation names in the metrics', async () => {
  for (let n = 0; n < 120; n++) await federation.ask(`query N${String(n)}${'x'.repeat(190)} ${QUERY}`);
  const { text } = await request(`${federation.gateway.url}/metrics`, { method: 'GET' });
  expect(text).toContain('operation="other"');
  expect(text).not.toContain('x'.repeat(64));
  expect(Buffer.byteLength(text)).toBeLessThan(500_000);
});
