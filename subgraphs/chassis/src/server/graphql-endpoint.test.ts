/** The two ways of a request, with Express and without, over a real HTTP server. */
import { once } from 'node:events';
import { type Server, createServer, request as send } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createTracing } from '@trestle/telemetry';
import { type GraphQLField, buildSchema } from 'graphql';
import { Registry } from 'prom-client';
import type { CallerVerifier } from '../request/context.ts';
import { createHttpApp, startApolloServer } from './apollo-server.ts';
import { createInFlight } from './in-flight.ts';
import { createRequestTelemetry } from './request-telemetry.ts';
import type { Endpoint } from './subgraph.ts';

const verifier: CallerVerifier = { verify: () => ({ userId: 'usr_1' }) as ReturnType<CallerVerifier['verify']> };
const inFlight = createInFlight();
const metrics = new Registry();
let server: Server;
beforeAll(async () => {
  const log = createLog({ service: 'test', level: 'silent' });
  const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: undefined } as Parameters<typeof createTracing>[0]['settings'];
  const tracing = await createTracing({ service: 'test', settings });
  const telemetry = createRequestTelemetry({ metrics, log, tracing });
  const schema = buildSchema('type Query { text(is: String): String, list(length: Int): [String] }');
  const list = schema.getQueryType()?.getFields()['list'] as GraphQLField<unknown, unknown, { length: number }>;
  list.resolve = (_, { length }) => Array.from({ length }, (__, index) => `漢${String(index)}`);
  const apollo = await startApolloServer({ schema, log, plugin: telemetry.plugin });
  const endpoint: Endpoint = (_, response) => {
    response.end();
  };
  const endpoints = { '/events': endpoint, '/files/': endpoint };
  server = createServer(
    createHttpApp({ server: apollo, inFlight, telemetry, verifier, createContext: (request) => request, endpoints, log }),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.close();
});

const BYTE_ORDER_MARK = String.fromCodePoint(0xfeff);
const REQUEST_ID = '8b6ebc77-2433-4159-8a09-b4fbccd07505';
/** `direct` has the type that gateways send; `express` one that means the same. */
const TYPES = { direct: 'application/json', express: 'application/json; charset="utf-8"' };

async function post(body: string | Buffer, headers: Record<string, string>) {
  const { port } = server.address() as AddressInfo;
  const sent = send({
    host: '127.0.0.1',
    port,
    method: 'POST',
    path: '/graphql',
    agent: false,
    headers: { ...headers, 'x-request-id': REQUEST_ID },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [NodeJS.ReadableStream & { statusCode: number; headers: Record<string, string> }];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const { date, ...received } = response.headers;
  return { status: response.statusCode, headers: received, isDated: date !== undefined, body: Buffer.concat(chunks).toString() };
}

describe('a POST', () => {
  it.each<[string, string | Buffer, number]>([
    ['an operation', '{"query":"{text}"}', 200],
    ['an operation behind a byte order mark', `${BYTE_ORDER_MARK}{"query":"{text}"}`, 200],
    ['a field that does not exist', '{"query":"{no}"}', 400],
    ['an empty object', '{}', 400],
    ['a list', '[{"query":"{text}"}]', 400],
    ['a number', '5', 400],
    ['null', 'null', 400],
    ['no JSON', '{"query":', 400],
    ['bytes that are not UTF-8', Buffer.from('{"query":"{text(is:\\"\xff\\")}"}', 'latin1'), 400],
    ['a document that is nested deep', `{"query":"${'{a'.repeat(5000)}${'}'.repeat(5000)}"}`, 400],
    ['variables that are nested deep', `{"query":"{text}","variables":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`, 400],
    ['more than 8 MiB', `{"query":"{text}","variables":{"a":"${'a'.repeat(8 * 1024 * 1024)}"}}`, 413],
  ])('of %s has the same response with Express and without', async (_, body, status) => {
    const direct = await post(body, { 'content-type': TYPES.direct });
    expect(direct).toEqual(await post(body, { 'content-type': TYPES.express }));
    expect(direct.status).toBe(status);
  });

  it.each([
    ['a document', `{"query":"${'{a'.repeat(5000)}${'}'.repeat(5000)}"}`, 'The document is'],
    ['a list in a document', `{"query":"{text(is:${'['.repeat(5000)}${']'.repeat(5000)})}"}`, 'The document is'],
    ['variables', `{"query":"{text}","variables":{"a":${'['.repeat(5000)}${']'.repeat(5000)}}}`, '`variables` is'],
  ])('of %s that is nested thousands of levels deep is refused with the limit', async (_, body, subject) => {
    const message = `${subject} nested deeper than the limit of 500 levels.`;
    const errors = [{ message, extensions: { code: 'VALIDATION_ERROR', requestId: REQUEST_ID } }];
    for (const type of Object.values(TYPES)) expect(JSON.parse((await post(body, { 'content-type': type })).body)).toEqual({ errors });
  });

  it('with a long list in its result has the same JSON with Express and without, where it is written as bytes', async () => {
    const body = '{"query":"{text list(length:500)}"}';
    const direct = await post(body, { 'content-type': TYPES.direct });
    const express = await post(body, { 'content-type': TYPES.express });
    expect(`${direct.body}\n`).toBe(express.body);
    expect(direct.headers['content-length']).toBe(String(Buffer.byteLength(direct.body)));
    expect(JSON.parse(direct.body)).toMatchObject({ data: { text: null, list: { 499: '漢499' } } });
  });

  it('whose client disconnects in its body is no longer in flight', async () => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('POST /graphql HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"qu');
    const [{ socket: accepted }] = (await once(server, 'request')) as [{ socket: NodeJS.ReadableStream }];
    socket.destroy();
    await new Promise((resolve) => accepted.once('close', resolve));
    await inFlight.settle();
    expect((await post('{"query":"{text}"}', { 'content-type': TYPES.direct })).body).toBe('{"data":{"text":null}}\n');
  });
});

describe('a GET of a browser', () => {
  it('gets no page, which would load scripts from other hosts', async () => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${String(port)}/graphql`, { headers: { accept: 'text/html,*/*;q=0.8' } });
    expect([response.status, response.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
    expect(await response.text()).not.toContain('http');
  });
});

describe('the duration of requests', () => {
  it.each([
    ['/events?after=5', '/events'],
    ['/files/fil_1/secret', '/files/*'],
    ['/eventsource', ''],
  ])('of %s has the route "%s", and never the path as it was sent', async (path, route) => {
    const { port } = server.address() as AddressInfo;
    const { status } = await fetch(`http://127.0.0.1:${String(port)}${path}`);
    await inFlight.settle();
    const labels = `http_request_method="GET",http_route="${route}",http_response_status_code="${String(status)}"`;
    expect(await metrics.metrics()).toContain(`http_server_request_duration_seconds_count{${labels}} 1\n`);
  });
});
