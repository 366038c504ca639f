/** A subgraph that is stopped for longer than the gateway waits for a mutation, behind a proxy that the gateway asks by HTTP/2 (spec §7.3: 504). */
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type Http2Server, type ServerHttp2Session, type ServerHttp2Stream, type IncomingHttpHeaders, createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let content: RunningProcess;
let gateway: RunningProcess;
let proxy: Http2Server;
let ada: Account;
const sessions = new Set<ServerHttp2Session>();

/** Passes a request on by HTTP/1.1, as proxies of service meshes do. A stream that is reset ends the connection of its request. */
function forward(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  const own = Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith(':')));
  const sent = httpRequest(`${content.url}${headers[':path'] ?? ''}`, { method: headers[':method'], headers: own });
  stream.on('error', () => undefined).once('close', () => sent.destroy());
  sent.on('error', () => {
    stream.close();
  });
  sent.once('response', (response) => {
    stream.respond({ ':status': response.statusCode ?? 502, 'content-type': response.headers['content-type'] });
    response.pipe(stream);
  });
  stream.pipe(sent);
}

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
  content = await stack.startSubgraph('content');
  proxy = createServer();
  proxy.on('session', (session) => {
    sessions.add(session);
  });
  proxy.on('stream', forward).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}/graphql`;
  gateway = await stack.startGateway({ SUBGRAPH_URL_CONTENT: url, UPSTREAM_CLIENT_CONTENT: 'http2', SUBGRAPH_TIMEOUT_MS: '1500' });
});
afterAll(async () => {
  signal('SIGCONT');
  await stack.stop();
  for (const session of sessions) session.destroy();
  await new Promise((resolve) => proxy.close(resolve));
});

function signal(name: 'SIGSTOP' | 'SIGCONT'): void {
  if (content.pid !== undefined) process.kill(content.pid, name);
}

async function createPost(title: string): Promise<string | undefined> {
  const query = 'mutation ($input: CreatePostInput!) { createPost(input: $input) { id } }';
  const reply = await request(`${gateway.url}/graphql`, {
    method: 'POST',
    token: ada.token,
    body: { query, variables: { input: { title } } },
  });
  const { errors } = reply.body as { errors?: readonly { extensions: { code: string } }[] };
  return errors?.[0]?.extensions.code;
}

it('does not execute mutations that the gateway has given up while it was stopped', async () => {
  expect(await createPost('Before')).toBeUndefined();
  signal('SIGSTOP');
  expect(await Promise.all(Array.from({ length: 5 }, () => createPost('Given up')))).toEqual(Array(5).fill('UPSTREAM_TIMEOUT'));
  signal('SIGCONT');
  // By the end of these requests the process has read what waited in its sockets.
  for (let round = 0; round < 10; round++) expect(await createPost(`After ${String(round)}`)).toBeUndefined();
  const titles = await stack.sql<{ title: string }>('content', `SELECT title FROM posts WHERE title IN ('Before', 'Given up')`);
  expect(titles.map(({ title }) => title)).toEqual(['Before']);
});
