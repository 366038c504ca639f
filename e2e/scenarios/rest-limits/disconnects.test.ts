/** What the bridge does with a request whose client disconnects before the response (docs/security.md). */
import { type Server, type ServerResponse, createServer } from 'node:http';
import { constants } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../stack/clients/client.ts';
import { type RunningProcess, startProcess } from '../../stack/processes/process.ts';
import { beginHttp2, createCertificate, openHttp2 } from '../../stack/clients/tls-client.ts';

/** A gateway that answers nothing until a test does: its open responses, by the name of their operation. */
const open = new Map<string, ServerResponse>();
let gateway: Server;
let bridge: RunningProcess;
let home: string;
const keys = generateTokenKeys();
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-disconnects-'));
  await writeFile(join(home, 'public.pem'), keys.publicKeyPem);
  gateway = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () =>
      open.set(/"operationName":"(\w+)"|(?:query|mutation) (\w+)/.exec(body)?.slice(1).find(Boolean) ?? body, response),
    );
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  bridge = await startBridge();
});
afterAll(async () => {
  await bridge.end('SIGTERM');
  gateway.closeAllConnections();
  await new Promise((resolve) => gateway.close(resolve));
  await rm(home, { recursive: true });
});

function startBridge(env: Readonly<Record<string, string>> = {}): Promise<RunningProcess> {
  const url = `http://127.0.0.1:${String((gateway.address() as AddressInfo).port)}/graphql`;
  return startProcess('rest-bridge', { REST_PORT: '0', GATEWAY_URL: url, TOKEN_PUBLIC_KEY_FILE: join(home, 'public.pem'), ...env });
}

/** Sends a request, waits until the gateway has it, and disconnects. Returns the response that the gateway owes. */
async function sendAndDisconnect(text: string, operation: RegExp): Promise<ServerResponse> {
  const socket = connect(Number(new URL(bridge.url).port), '127.0.0.1', () => socket.write(text));
  const received = () => [...open].find(([name]) => operation.test(name))?.[1];
  await until(() => Promise.resolve(received() !== undefined));
  socket.destroy();
  return received() as ServerResponse;
}

it('aborts a query to the gateway when the client of a GET disconnects', async () => {
  const owed = await sendAndDisconnect('GET /v1/products HTTP/1.1\r\nHost: a\r\n\r\n', /Product/);
  await until(() => Promise.resolve(owed.destroyed));
  expect(owed.writableFinished).toBe(false);
});

it('completes a mutation whose client disconnects', async () => {
  const body = JSON.stringify({ email: 'a@example.org', name: 'A', password: 'correct horse 9 battery' });
  const head = `POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n`;
  const owed = await sendAndDisconnect(head + body, /CreateUser/);
  // The query of a later client that disconnects is aborted, the mutation still is not.
  open.clear();
  const query = await sendAndDisconnect('GET /v1/posts HTTP/1.1\r\nHost: a\r\n\r\n', /Post/);
  await until(() => Promise.resolve(query.destroyed));
  expect(owed.destroyed).toBe(false);
  owed.end('{"data":{"createUser":null}}');
  await until(() => Promise.resolve(owed.writableFinished));
});

it('ends an event stream whose client resets its stream of HTTP/2 before the gateway responds', async () => {
  open.clear();
  const certificate = await createCertificate(home);
  const own = await startBridge(certificate.settings);
  const session = openHttp2(certificate, own.port);
  const { token } = createTokenIssuer(keys).issue(createTestGrant({ id: 'usr_1' }));
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${token}` };
  const stream = beginHttp2(session, { path: '/v1/events', headers }).on('error', () => undefined);
  await until(() => Promise.resolve(open.size === 1));
  stream.close(constants.NGHTTP2_CANCEL);
  await until(() => Promise.resolve([...open.values()].every(({ destroyed }) => destroyed)));
  // The bridge logs a request when it works on it no more.
  await until(() => Promise.resolve(own.lines.some((line) => line.includes('"route":"/events"'))));
  session.destroy();
  await own.end('SIGTERM');
});
