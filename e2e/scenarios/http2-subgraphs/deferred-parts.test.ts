/** Results in parts (`@defer`) whose deferred fields come from a subgraph by HTTP/2. */
import { type ServerHttp2Session, type ServerHttp2Stream, constants } from 'node:http2';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type TestHttp2Server, listenHttp2, reply } from '@trestle/http-client/http2/http2-server';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = {
  harbours: {
    sdl: 'type Query { harbour: Harbour! } type Harbour @key(fields: "code") { code: ID! }',
    resolvers: { Query: { harbour: () => ({ code: 'HAM' }) } },
  },
  tides: { sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float level: Float }', resolvers: {} },
};
const QUERY = '{ harbour { code ... @defer(label: "tide") { tide } ... @defer(label: "level") { level } } }';
const TIMEOUT_MS = 1000;

type Field = 'tide' | 'level';

let federation: Federation;
let server: TestHttp2Server;
/** The deferred fetches that have arrived. */
const arrived: Field[] = [];
/** What the subgraph does with each of them. */
let handle: (field: Field, stream: ServerHttp2Stream) => void;

const replyData = (field: Field, stream: ServerHttp2Stream) => {
  reply(stream, JSON.stringify({ data: { _entities: [{ [field]: 1.5 }] } }));
};

beforeAll(async () => {
  server = await listenHttp2((stream, body) => {
    const field = body.includes('tide') ? 'tide' : 'level';
    arrived.push(field);
    handle(field, stream);
  });
  const url = `${server.origin}/graphql`;
  const client = { SUBGRAPH_URL_TIDES: url, UPSTREAM_CLIENT_TIDES: 'http2', SUBGRAPH_RETRY_PERCENT: '0' };
  federation = await startFederation(SOURCES, { env: { ...client, SUBGRAPH_TIMEOUT_MS: String(TIMEOUT_MS), MAX_DEFERRED: '10' } });
});
afterAll(async () => {
  await federation.stop();
  await server.close();
});
beforeEach(() => {
  handle = replyData;
  arrived.length = 0;
});

interface Part {
  readonly incremental?: readonly {
    readonly id: string;
    readonly data: object;
    readonly errors?: readonly { extensions: { code: string } }[];
  }[];
  readonly hasNext: boolean;
}

/** Returns the data of each deferred fragment, with the codes of its errors, in the order of arrival. */
async function ask(): Promise<(readonly [object, string[]])[]> {
  const headers = { accept: 'multipart/mixed, application/json' };
  const { text: body } = await request(federation.url, { method: 'POST', body: { query: QUERY }, headers });
  const parts = body.split('\r\n---').flatMap((part) => (part.includes('{') ? [JSON.parse(part.slice(part.indexOf('{'))) as Part] : []));
  expect(parts.map(({ hasNext }) => hasNext)).toEqual([true, true, false]);
  const delivered = parts.flatMap(({ incremental = [] }) => incremental);
  return delivered.map(({ data, errors = [] }) => [data, errors.map(({ extensions: { code } }) => code)] as const);
}

const TIDE = [{ tide: 1.5 }, []];
const LEVEL = [{ level: 1.5 }, []];
const FAILED_TIDE = [{ tide: null }, ['UPSTREAM_ERROR']];

describe('deferred fragments of a subgraph by HTTP/2', () => {
  it('arrive over one connection', async () => {
    expect(await ask()).toEqual(expect.arrayContaining([TIDE, LEVEL]));
    expect(await readMetric(federation.gateway.url, 'trestle_subgraph_connections_open{subgraph="tides"}')).toBe(1);
  });

  it('do not wait for one that the subgraph answers too late, whose stream is cancelled', async () => {
    let code: number | undefined;
    handle = (field, stream) => {
      if (field === 'tide') stream.once('close', () => (code = stream.rstCode));
      else replyData(field, stream);
    };
    const open = [...server.sessions];
    expect(await ask()).toEqual([LEVEL, [{ tide: null }, ['UPSTREAM_TIMEOUT']]]);
    await until(() => Promise.resolve(code !== undefined));
    expect(code).toBe(constants.NGHTTP2_CANCEL);
    expect([...server.sessions]).toEqual(open);
  });

  it.each<[string, (stream: ServerHttp2Stream) => void]>([
    [
      'a stream is reset',
      (stream) => {
        stream.close(constants.NGHTTP2_INTERNAL_ERROR);
      },
    ],
    [
      'a status is 500',
      (stream) => {
        stream.respond({ ':status': 500 });
        stream.end('no');
      },
    ],
    [
      'a response is cut off',
      (stream) => {
        reply(stream, '{"data":');
      },
    ],
  ])('fail on their own when %s', async (_, fail) => {
    handle = (field, stream) => {
      if (field === 'tide') fail(stream);
      else replyData(field, stream);
    };
    expect(await ask()).toEqual(expect.arrayContaining([FAILED_TIDE, LEVEL]));
  });

  it('fail together with their connection, and the next ones come over another', async () => {
    handle = (_, stream) => {
      if (arrived.length === 2) stream.session?.destroy();
    };
    expect(await ask()).toEqual(expect.arrayContaining([FAILED_TIDE, [{ level: null }, ['UPSTREAM_ERROR']]]));
    handle = replyData;
    expect(await ask()).toEqual(expect.arrayContaining([TIDE, LEVEL]));
  });

  describe('are cancelled, and their connection is kept, when a client', () => {
    let codes: number[];
    let open: ServerHttp2Session[];
    beforeEach(async () => {
      await ask();
      codes = [];
      arrived.length = 0;
      open = [...server.sessions];
      handle = (_, stream) => stream.once('close', () => codes.push(stream.rstCode));
    });
    const expectCancelled = async () => {
      await until(() => Promise.resolve(codes.length === 2));
      expect(codes).toEqual([constants.NGHTTP2_CANCEL, constants.NGHTTP2_CANCEL]);
      handle = replyData;
      expect(await ask()).toEqual(expect.arrayContaining([TIDE, LEVEL]));
      expect([...server.sessions]).toEqual(open);
    };

    it.each(['multipart/mixed', 'text/event-stream'])('that accepts %s disconnects', async (accept) => {
      const leave = new AbortController();
      const headers = { accept, 'content-type': 'application/json' };
      const response = await fetch(federation.url, {
        method: 'POST',
        headers,
        body: JSON.stringify({ query: QUERY }),
        signal: leave.signal,
      });
      expect(response.status).toBe(200);
      await until(() => Promise.resolve(arrived.length === 2));
      leave.abort();
      await expectCancelled();
    });

    it('of a WebSocket completes its operation', async () => {
      const client = createClient({ url: federation.url.replace('http', 'ws'), webSocketImpl: WebSocket });
      const results: unknown[] = [];
      const complete = client.subscribe(
        { query: QUERY },
        { next: (result) => results.push(result), error: () => undefined, complete: () => undefined },
      );
      await until(() => Promise.resolve(arrived.length === 2 && results.length === 1));
      complete();
      await expectCancelled();
      await client.dispose();
    });
  });
});
