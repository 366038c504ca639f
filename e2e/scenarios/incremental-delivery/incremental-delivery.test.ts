/** Incremental delivery over each transport: graphql-ws, graphql-sse, and plain HTTP. */
import { once } from 'node:events';
import { type IncomingMessage, request as post } from 'node:http';
import { createBrotliDecompress, createGunzip } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient as createSseClient } from 'graphql-sse';
import { createClient as createWsClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const HAMBURG = { code: 'HAM', name: 'Hamburg' };
const ROTTERDAM = { code: 'RTM', name: 'Rotterdam' };
const sources = {
  harbours: {
    sdl: 'type Query { harbours: [Harbour!]! } type Harbour @key(fields: "code") { code: ID! name: String! }',
    resolvers: { Query: { harbours: () => [HAMBURG, ROTTERDAM] } },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float! }',
    resolvers: {
      Harbour: { __resolveReference: (key: object) => key, tide: ({ code }: { code: string }) => (code === 'HAM' ? 1.5 : 2.5) },
    },
  },
};
const QUERY = 'query Tides { harbours { code name ... @defer(label: "tide") { tide } } }';
const FIRST = { harbours: [HAMBURG, ROTTERDAM] };
const WHOLE = {
  harbours: [
    { ...HAMBURG, tide: 1.5 },
    { ...ROTTERDAM, tide: 2.5 },
  ],
};

let federation: Federation;
beforeAll(async () => {
  federation = await startFederation(sources, { env: { MAX_DEFERRED: '10' } });
});
afterAll(() => federation.stop());

/** Lets the deferred fetch be answered. */
let release: () => void;
beforeEach(() => {
  const held = new Promise<void>((resolve) => (release = resolve));
  federation.intercept = async ({ subgraph }) => {
    if (subgraph === 'tides') await held;
  };
});

const fetches = () => federation.received.map(({ subgraph }) => subgraph);

/** Waits for the first result, lets the second be fetched, and waits for that. */
async function hearBoth(heard: readonly unknown[]): Promise<void> {
  await until(() => Promise.resolve(heard.length > 0));
  release();
  await until(() => Promise.resolve(heard.length >= 2));
}

describe('a deferred fragment', () => {
  const PARTS = [
    {
      data: FIRST,
      pending: [
        { id: '0', path: ['harbours', 0], label: 'tide' },
        { id: '1', path: ['harbours', 1], label: 'tide' },
      ],
      hasNext: true,
    },
    {
      incremental: [
        { id: '0', data: { tide: 1.5 } },
        { id: '1', data: { tide: 2.5 } },
      ],
      completed: [{ id: '0' }, { id: '1' }],
      hasNext: false,
    },
  ];

  it('is delivered later over WebSockets and server-sent events, by the current format', async () => {
    const ws = createWsClient({ url: federation.url.replace('http', 'ws'), webSocketImpl: WebSocket });
    const [bySocket, byEvents]: [unknown[], unknown[]] = [[], []];
    const sse = createSseClient({ url: federation.url });
    const listen = (heard: unknown[]) => ({
      next: (value: unknown) => heard.push(value),
      error: () => undefined,
      complete: () => undefined,
    });
    ws.subscribe({ query: QUERY }, listen(bySocket));
    sse.subscribe({ query: QUERY }, listen(byEvents));
    await until(() => Promise.resolve(bySocket.length === 1 && byEvents.length === 1));
    await Promise.all([hearBoth(bySocket), hearBoth(byEvents)]);
    expect([bySocket, byEvents]).toEqual([PARTS, PARTS]);
    await ws.dispose();
    sse.dispose();
  });

  it.each(['gzip', 'br'])('is compressed by %s, and each part can be read when it arrives', async (encoding) => {
    const headers = { 'content-type': 'application/json', accept: 'multipart/mixed, application/json', 'accept-encoding': encoding };
    const sent = post(federation.url, { method: 'POST', headers });
    sent.end(JSON.stringify({ query: QUERY }));
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    expect(response.headers).toMatchObject({ 'content-encoding': encoding, vary: expect.stringContaining('Accept-Encoding') as unknown });
    let text = '';
    const decoder = response.pipe(encoding === 'gzip' ? createGunzip() : createBrotliDecompress());
    decoder.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await until(() => Promise.resolve(text.includes('"hasNext":true')));
    expect(text).not.toContain('tide":1.5');
    release();
    await once(decoder, 'end');
    const parts = text
      .split('\r\n---')
      .flatMap((part) => (part.includes('{') ? [JSON.parse(part.slice(part.indexOf('{'))) as unknown] : []));
    expect(parts).toEqual(PARTS);
  });

  it('fails on its own where its subgraph fails', async () => {
    federation.intercept = ({ subgraph }) => (subgraph === 'tides' ? { data: null, errors: [{ message: 'no tide' }] } : undefined);
    const { status, headers, text } = await request(federation.url, {
      method: 'POST',
      body: { query: QUERY },
      headers: { accept: 'multipart/mixed, application/json' },
    });
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, 'multipart/mixed;boundary="-"', 'no-store']);
    const [, first, second, end] = text.split('\r\n---').map((part) => part.slice(part.indexOf('{')));
    expect(JSON.parse(first ?? '')).toMatchObject({ data: FIRST, hasNext: true });
    expect(JSON.parse(second ?? '')).toMatchObject({
      completed: [
        { id: '0', errors: [{ path: ['harbours', 0, 'tide'] }] },
        { id: '1', errors: [{ path: ['harbours', 1, 'tide'] }] },
      ],
      hasNext: false,
    });
    expect(end).toBe('--\r\n'.slice(-1));
  });

  it('is a part of the only response for a client that takes no other', async () => {
    release();
    const before = fetches().length;
    const { body, headers } = await federation.ask(QUERY);
    expect(body).toEqual({ data: WHOLE });
    expect(headers.get('content-type')).toContain('json');
    expect(fetches().slice(before)).toEqual(['harbours', 'tides']);
  });

  it.each(['multipart/mixed', 'multipart/mixed;deferSpec=20220824'])(
    'is delivered to a client that accepts %s and no JSON',
    async (accept) => {
      release();
      const ask = async (query: string) => {
        const { status, text } = await request(federation.url, { method: 'POST', body: { query }, headers: { accept } });
        const parts = text
          .split('\r\n---')
          .flatMap((part) => (part.includes('{') ? [JSON.parse(part.slice(part.indexOf('{'))) as unknown] : []));
        return { status, parts };
      };
      expect(await ask(QUERY)).toMatchObject({ status: 200, parts: [{ data: FIRST, hasNext: true }, { hasNext: false }] });
      expect(await ask('{ harbours { code name } }')).toEqual({ status: 200, parts: [{ data: FIRST }] });
    },
  );

  it('is not fetched any further when its client disconnects', async () => {
    const leave = new AbortController();
    let isAborted = false;
    federation.intercept = ({ subgraph }, incoming) => {
      if (subgraph !== 'tides') return undefined;
      return new Promise((resolve) => {
        incoming.socket.once('close', () => {
          isAborted = true;
          resolve(undefined);
        });
      });
    };
    const headers = { accept: 'multipart/mixed', 'content-type': 'application/json' };
    const response = await fetch(federation.url, { method: 'POST', headers, body: JSON.stringify({ query: QUERY }), signal: leave.signal });
    await response.body?.getReader().read();
    await until(() => Promise.resolve(fetches().at(-1) === 'tides'));
    leave.abort();
    await until(() => Promise.resolve(isAborted));
  });

  it('costs as much as without @defer, and is refused beyond the limit of directives', async () => {
    const cost = async (query: string) =>
      (await federation.ask(query, {}, { 'trestle-cost': '1' })).body.extensions as { cost: { estimated: number } };
    release();
    expect(await cost(QUERY)).toEqual(await cost(QUERY.replace('... @defer(label: "tide") { tide }', 'tide')));
    const many = await federation.ask(`{ harbours { ${'... @defer { name } '.repeat(11)} } }`);
    expect([many.status, many.body.errors?.[0]?.message]).toEqual([400, 'The document has more than 10 directives @defer and @stream.']);
  });
});

it('@stream is accepted and has no effect', async () => {
  expect((await federation.ask('{ harbours @stream(initialCount: 1) { code name } }')).body).toEqual({ data: FIRST });
});

let rounds = 0;
/** Sends queries, and disconnects before any of them has a result. */
async function leave(headers: Readonly<Record<string, string>>, count: number): Promise<void> {
  const name = `Round${String(++rounds)}`;
  let arrived = 0;
  let answer: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  federation.intercept = async ({ query }) => {
    // A fetch of the round before may still arrive.
    if (query.startsWith(`query ${name}_`)) arrived++;
    await held;
  };
  const clients = Array.from({ length: count }, (_, i) => {
    const client = post(federation.url, { method: 'POST', headers });
    client.on('error', () => undefined);
    client.end(JSON.stringify({ query: `query ${name}_${String(i)} { harbours { code ... @defer { tide } } }` }));
    return client;
  });
  await until(() => Promise.resolve(arrived === count));
  for (const client of clients) client.destroy();
  answer();
}

describe('a client that disconnects before its first result', () => {
  it.each([
    ['parts', 'multipart/mixed;deferSpec=20220824'],
    ['parts and event streams', 'multipart/mixed;deferSpec=20220824, text/event-stream;q=0.5'],
  ])('leaves no queue behind when it accepts %s, and does not end the compression of later responses', async (_, accept) => {
    const headers = { 'content-type': 'application/json', accept, 'accept-encoding': 'gzip' };
    // Together more than the encoders that may be open at once; each round fewer than the connections to a subgraph.
    for (let round = 0; round < 2; round++) await leave(headers, 40);
    await until(async () => (await readMetric(federation.gateway.url, 'trestle_send_buffer_clients')) === 0);
    const client = post(federation.url, { method: 'POST', headers });
    client.end(JSON.stringify({ query: QUERY }));
    const [response] = (await once(client, 'response')) as [IncomingMessage];
    response.resume();
    expect(response.headers['content-encoding']).toBe('gzip');
  });
});
