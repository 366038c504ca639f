/** Two gateways before the same kind of subgraph: one with `REQUEST_READER=lean`, one with the parser of Node.js. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const subgraphs = {
  greetings: {
    sdl: 'type Query { hello(name: String = "you"): String list(first: Int): [Int!]! } type Mutation { bow: String }',
    resolvers: {
      Query: {
        hello: (_: unknown, { name }: { name: string }) => `Hello ${name}`,
        list: (_: unknown, { first }: { first: number }) => Array.from({ length: first }, (__, i) => i),
      },
      Mutation: { bow: () => 'bowed' },
    },
  },
};

let lean: Federation;
let node: Federation;
beforeAll(async () => {
  lean = await startFederation(subgraphs, { env: { REQUEST_READER: 'lean', MAX_BATCH: '3' } });
  node = await startFederation(subgraphs, { env: { REQUEST_READER: 'node', MAX_BATCH: '3' } });
});
afterAll(async () => {
  await lean.stop();
  await node.stop();
});

const countRead = () => readMetric(lean.gateway.url, 'trestle_lean_requests_total');
const ID = '11111111-2222-4333-8444-555555555555';

/** Removes what differs between two requests. */
const mask = (text: string) => text.replace(/\r\nDate: [^\r]+/g, '').replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '(id)');

/** A request that is the last of its connection: the lean reader leaves it to Node.js. */
const LAST = 'GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
const post = (body: string, headers = '') =>
  `POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(Buffer.byteLength(body, 'latin1'))}\r\n${headers}\r\n${body}`;

it('passes every audit of graphql-http', async () => {
  const before = await countRead();
  const results = await Promise.all(serverAudits({ url: () => lean.url, fetchFn: fetch }).map((audit) => audit.fn()));
  expect(results.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(61);
  expect(await countRead()).toBeGreaterThan(before);
});

describe('a response to a request that the lean reader reads', () => {
  it.each([
    ['a query', '{"query":"{ hello }"}', ''],
    ['a mutation', '{"query":"mutation { bow }"}', `X-Request-ID: ${ID}\r\n`],
    ['a body that is no JSON', '{', ''],
    ['a body that is no UTF-8', '{"query":"{ hello }\u00ff"}', ''],
    ['an invalid document', '{"query":"{ nope }"}', ''],
    ['variables of the wrong type', '{"query":"query($n: String) { hello(name: $n) }","variables":{"n":7}}', ''],
    ['a batch', '[{"query":"{ hello }"},{"query":"{ list(first: 2) }"}]', ''],
    ['a batch that is too long', '[{},{},{},{}]', ''],
    ['an unacceptable media type', '{"query":"{ hello }"}', 'Accept: text/plain\r\n'],
    ['the GraphQL media type', '{"query":"{ nope }"}', 'Accept: application/graphql-response+json\r\n'],
    ['a large result', '{"query":"{ list(first: 20000) }"}', ''],
    ['another site', '{"query":"{ hello }"}', 'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n'],
    ['an origin', '{"query":"{ hello }"}', 'Origin: https://a.example\r\n'],
    ['an id of its own', '{"query":"{ hello }"}', `X-Request-ID: ${ID}\r\nTrestle-Cost: 1\r\n`],
  ])('has the bytes of Node.js for %s', async (_, body, headers) => {
    const before = await countRead();
    // The second request is sent when the first has been answered, as a client does that keeps its connection.
    const [leanText, nodeText] = await Promise.all([lean, node].map((each) => sendTwo(each, post(body, headers))));
    expect(leanText).toBe(nodeText);
    expect(await countRead()).toBe(before + 1);
  });

  it('is in the access log and in the metrics', async () => {
    const operation = 'LeanRequest';
    const reply = await lean.ask(`query ${operation} { hello }`);
    expect(reply.status).toBe(200);
    await until(() =>
      Promise.resolve(lean.gateway.lines.some((line) => line.includes(`"operation":"${operation}"`) && line.includes('"status":200'))),
    );
    const count = `trestle_graphql_request_duration_seconds_count{operation="${operation}",status="200"}`;
    expect(await readMetric(lean.gateway.url, count)).toBe(1);
  });

  it('is not sent when the client disconnects, and the fetch is cancelled', async () => {
    let arrived = false;
    let closed = false;
    lean.intercept = (_, incoming) => {
      arrived = true;
      incoming.socket.once('close', () => (closed = true));
      return new Promise(() => undefined);
    };
    const socket = connect(lean.gateway.port, '127.0.0.1').on('error', () => undefined);
    socket.write(post('{"query":"{ hello }"}'));
    await until(() => Promise.resolve(arrived));
    socket.destroy();
    await until(() => Promise.resolve(closed));
    lean.intercept = undefined;
    expect(closed).toBe(true);
  });
});

it('leaves clients that accept event streams to Node.js', async () => {
  const before = await countRead();
  const reply = await request(lean.url, { method: 'POST', body: { query: '{ hello }' }, headers: { accept: 'text/event-stream' } });
  expect(reply.text).toContain('event: next');
  expect(await countRead()).toBe(before);
});

/** Sends one request, and {@link LAST} when a response has begun to arrive. */
async function sendTwo(federation: Federation, first: string): Promise<string> {
  const { gateway } = federation;
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => undefined);
  let answer = '';
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
  socket.write(first, 'latin1');
  await once(socket, 'data');
  socket.write(LAST);
  if (!socket.closed) await once(socket, 'close');
  return mask(answer);
}
