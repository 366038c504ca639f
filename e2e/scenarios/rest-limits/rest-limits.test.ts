/** The requests that the bridge rejects, and its responses to them (spec §7, contract §4 to §6). */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import { type Account, createClients } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let admin: Account;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-limits-'));
  stack = await leaseStack();
  [ada, admin] = [await stack.createAccount('Ada'), await stack.createAccount('Root', 'ADMIN')];
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true });
});

const codeOf = (body: unknown) => (body as { error?: { code: string } } | undefined)?.error?.code;
const post = (body: unknown, headers: Record<string, string> = {}) => stack.call('POST', '/v1/users', { body, headers });

/** Sends bytes over a bare socket, to a server itself, and gives all that comes back until it closes. nginx would refuse most of them. */
function raw(url: string, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => socket.write(text));
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer);
    });
  });
}

describe('a request body', () => {
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  it.each([
    ['nothing', ''],
    ['half an object', '{"a":1'],
    ['a comma too many', '{"a":1,}'],
    ['text around it', '{} x'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{/**/}'],
    ['NaN', '{"a":NaN}'],
    ['a huge number', '{"a":1e999}'],
    ['a whole number beyond 2^53', '{"a":9007199254740993}'],
    ['a name twice', '{"email":"a@example.org","email":"b@example.org"}'],
    ['a name twice, once escaped', '{"a":1,"\\u0061":2}'],
    ['half of a pair', '{"name":"\\ud800"}'],
    ['deep nesting', nested(65)],
    ['very deep nesting', nested(400_000)],
    ['a BOM', '\ufeff{}'],
    ['a bare text', '"a"'],
    ['null', 'null'],
    ['a list', '[]'],
  ])('with %s is answered 400', async (_, body) => {
    const reply = await post(body, { 'content-type': 'application/json' });
    expect([reply.status, codeOf(reply.body)]).toEqual([400, 'VALIDATION_ERROR']);
  });

  it('that is not UTF-8 is answered 400', async () => {
    const head = `POST /v1/users HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n`;
    const socketText = await new Promise<string>((resolve, reject) => {
      let answer = '';
      const socket = connect(Number(new URL(stack.direct.rest).port), '127.0.0.1', () => {
        socket.write(Buffer.concat([Buffer.from(`${head}{"name":"`), Buffer.from([0xff]), Buffer.from('"}')]));
      });
      socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
      socket.on('error', reject);
      socket.on('close', () => {
        resolve(answer);
      });
    });
    expect(socketText).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('of another media type, or compressed, is answered 415 with the accepted types', async () => {
    const xml = await post('<a/>', { 'content-type': 'application/xml' });
    expect([xml.status, xml.headers.get('accept-post')]).toEqual([415, 'application/json']);
    const path = `/v1/users/${ada.id}`;
    const wrong = await stack.call('PATCH', path, { token: ada.token, body: 'x', headers: { 'content-type': 'text/plain' } });
    expect([wrong.status, wrong.headers.get('accept-patch')]).toEqual([415, 'application/json, application/merge-patch+json']);
    const merge = await stack.call('PATCH', path, {
      token: ada.token,
      body: '{"bio":null}',
      headers: { 'content-type': 'application/merge-patch+json' },
    });
    expect(merge.status).toBe(200);
    expect((await post('{}', { 'content-type': 'application/json; charset=latin1' })).status).toBe(415);
    const compressed = await post('{}', { 'content-encoding': 'gzip' });
    expect([compressed.status, compressed.headers.get('accept-encoding')]).toEqual([415, 'identity']);
    const whole = await stack.call('PUT', path, { token: ada.token, body: '<a/>', headers: { 'content-type': 'application/xml' } });
    expect([whole.status, whole.headers.get('accept'), whole.headers.get('accept-post')]).toEqual([415, 'application/json', null]);
  });

  it('above 1 MiB is answered 413, also when only Content-Length says so', async () => {
    expect((await post({ email: 'big@example.org', name: 'x'.repeat(1024 * 1024), password: 'long-enough-now' })).status).toBe(413);
    const head = 'POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n';
    expect(await raw(stack.direct.rest, head)).toMatch(/^HTTP\/1\.1 413 [\s\S]*PAYLOAD_TOO_LARGE/);
  });

  // RFC 9112 §9.6: a connection that is closed with unread bytes is reset, and the client may lose the response.
  it.each([
    ['bridge', 'rest', '/v1/users'],
    ['gateway', 'gateway', '/graphql'],
  ] as const)('that the %s refuses can be sent to its end, and the connection ends after it', async (_, server, path) => {
    const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000000\r\n\r\n`;
    const socket = connect(Number(new URL(stack.direct[server]).port), '127.0.0.1', () => socket.write(head));
    let answer = '';
    socket.on('data', (chunk: Buffer) => {
      // The refusal arrives before the body is sent.
      if (answer === '') socket.write(Buffer.alloc(2_000_000, 'x'));
      answer += chunk.toString();
    });
    await new Promise((resolve, reject) => socket.once('error', reject).once('close', resolve));
    expect(answer).toMatch(/^HTTP\/1\.1 413 [\s\S]*connection: close[\s\S]*PAYLOAD_TOO_LARGE/i);
    expect(socket.bytesWritten).toBe(head.length + 2_000_000);
  });
});

describe('a request', () => {
  it('with several faults gets all of them in one response', async () => {
    const list = await stack.call('GET', '/v1/users?age_gte=old&role=king&limit=0&color=red&fields=nose&sort=nose');
    expect((list.body as { error: { details: { field: string }[] } }).error.details.map(({ field }) => field).sort()).toEqual(
      ['age_gte', 'color', 'fields', 'limit', 'role', 'sort'].sort(),
    );
  });

  it('that accepts only application/problem+json gets errors as problem details', async () => {
    const problem = await stack.call('GET', '/v1/users/usr_none', { headers: { accept: 'application/problem+json' } });
    expect(problem.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(problem.body).toMatchObject({ status: 404, title: 'Not Found', code: 'NOT_FOUND', requestId: expect.any(String) });
    expect((await stack.call('GET', `/v1/users/${ada.id}`, { headers: { accept: 'application/problem+json' } })).status).toBe(200);
    const both = await stack.call('GET', '/v1/users/usr_none', { headers: { accept: 'application/problem+json, application/json' } });
    expect(codeOf(both.body)).toBe('NOT_FOUND');
  });

  it('whose Accept matches no available media type is answered 406', async () => {
    const reply = await stack.call('GET', '/v1/users', { headers: { accept: 'text/html' } });
    expect([reply.status, codeOf(reply.body)]).toEqual([406, 'NOT_ACCEPTABLE']);
    expect((await stack.call('GET', '/v1/users', { headers: { accept: 'text/html, */*;q=0.1' } })).status).toBe(200);
    expect((await stack.call('GET', '/v1/users', { headers: { accept: 'application/json;q=0' } })).status).toBe(406);
  });

  it('with another method is answered 405 with Allow, and with an unknown method 501', async () => {
    const wrong = await stack.call('DELETE', '/v1/users', { token: admin.token });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD, POST, OPTIONS']);
    const options = await stack.call('OPTIONS', '/v1/users');
    expect([options.status, options.headers.get('allow'), options.headers.get('accept-post')]).toEqual([
      200,
      'GET, HEAD, POST, OPTIONS',
      'application/json',
    ]);
    expect((await stack.call('PROPFIND', '/v1/users')).status).toBe(501);
    expect(await raw(stack.direct.rest, 'BREW /v1/users HTTP/1.1\r\nHost: a\r\n\r\n')).toMatch(/^HTTP\/1\.1 501 [\s\S]*NOT_IMPLEMENTED/);
    const all = await raw(stack.direct.rest, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    expect(all).toMatch(/^HTTP\/1\.1 200 [\s\S]*allow: GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE/i);
  });

  it('is answered 414 for a URL above 8 KiB, 431 for headers above 16 KiB, and 400 for two lengths', async () => {
    const direct = createClients(stack.direct);
    expect((await direct.call('GET', `/v1/users?name=${'x'.repeat(8 * 1024)}`)).status).toBe(414);
    expect(await raw(stack.direct.rest, `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(17_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 [\s\S]*api-version: 1[\s\S]*nosniff[\s\S]*"error":[\s\S]*requestId/,
    );
    // The gateway's refusals are GraphQL's.
    expect(await raw(stack.direct.gateway, 'GET / NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [\s\S]*"errors":\[[\s\S]*requestId/);
    const smuggled = 'POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n';
    expect(await raw(stack.direct.rest, smuggled)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('is refused before any handler with a problem document when the client accepts nothing else', async () => {
    const accept = 'Accept: application/problem+json\r\n';
    const problem = /^HTTP\/1\.1 400 [\s\S]*content-type: application\/problem\+json[\s\S]*"title":"Bad Request","status":400/i;
    const expecting = `GET /v1/users HTTP/1.1\r\nHost: a\r\nExpect: nothing\r\nConnection: close\r\n`;
    expect(await raw(stack.direct.rest, `${expecting}${accept}\r\n`)).toMatch(problem);
    expect(await raw(stack.direct.rest, `${expecting}\r\n`)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"error":\{"code":"VALIDATION_ERROR"/);
    const smuggled = `POST /v1/users HTTP/1.1\r\nHost: a\r\n${accept}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`;
    expect(await raw(stack.direct.rest, smuggled)).toMatch(/^HTTP\/1\.1 400 /);
    const tunnel = await raw(stack.direct.rest, `CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n${accept}\r\n`);
    expect(tunnel).toMatch(/^HTTP\/1\.1 501 [\s\S]*problem\+json[\s\S]*"status":501/);
  });

  it('whose headers or body arrive too slowly is answered 408', async () => {
    const { url } = await stack.startBridge({ HEADERS_TIMEOUT_MS: '300', REQUEST_TIMEOUT_MS: '600' });
    expect(await raw(url, 'GET /v1/users HTTP/1.1\r\nHost: a\r\n')).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
    const head = 'POST /v1/users HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"em';
    expect(await raw(url, head)).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
  });

  it('keeps its X-Request-ID when it is a UUID, and gets a new one otherwise', async () => {
    const id = '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11';
    const [own, other] = [
      await stack.call('GET', '/v1/nothing', { headers: { 'x-request-id': id } }),
      await stack.call('GET', '/v1/nothing', { headers: { 'x-request-id': 'not one' } }),
    ];
    expect([own.headers.get('x-request-id'), (own.body as { error: { requestId: string } }).error.requestId]).toEqual([id, id]);
    expect(other.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  });

  it('of an administrator, and of no other caller, gets Server-Timing', async () => {
    expect((await stack.call('GET', `/v1/users/${ada.id}`, { token: admin.token })).headers.get('server-timing')).toMatch(
      /users;dur=[\d.]+/,
    );
    expect((await stack.call('GET', `/v1/users/${ada.id}`, { token: ada.token })).headers.get('server-timing')).toBeNull();
  });
});

describe('the API documents', () => {
  it('are served as OpenAPI in both versions, and compressed only once', async () => {
    for (const version of [1, 2]) {
      const reply = await stack.call('GET', `/v${String(version)}/openapi.json`);
      expect(reply.body).toMatchObject({ openapi: '3.1.0', info: { version: `${String(version)}.0.0` } });
      expect(
        (await stack.call('GET', `/v${String(version)}/openapi.json`, { headers: { 'if-none-match': reply.headers.get('etag') ?? '' } }))
          .status,
      ).toBe(304);
    }
    expect((await stack.call('GET', '/openapi.json')).headers.get('api-version')).toBe('1');
  });

  it('are served as a page that may not run scripts or load resources', async () => {
    const page = await stack.call('GET', '/docs');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect((await stack.call('GET', '/docs', { headers: { accept: 'application/json' } })).status).toBe(406);
    expect((await stack.call('GET', '/docs?nonsense=1')).status).toBe(400);
  });
});

describe('a 503 response', () => {
  it('is sent with Retry-After while the maintenance file exists, and probes still answer', async () => {
    const file = join(home, 'maintenance');
    const { url } = await stack.startBridge({ MAINTENANCE_FILE: file });
    const get = (path: string) => request(`${url}${path}`, { method: 'GET' });
    expect((await get('/v1/products')).status).toBe(200);
    // Renamed into place: the bridge must not read the file before its content is written.
    await writeFile(`${file}.new`, '30\n');
    await rename(`${file}.new`, file);
    await until(async () => (await get('/v1/products')).status === 503);
    const down = await get('/v1/products');
    expect([codeOf(down.body), down.headers.get('retry-after')]).toEqual(['SERVICE_UNAVAILABLE', '30']);
    expect((await get('/livez')).status).toBe(200);
    await rm(file);
    await until(async () => (await get('/v1/products')).status === 200);
  });

  it('is sent only while too many requests are in flight', async () => {
    const { url } = await stack.startBridge({ MAX_IN_FLIGHT: '2' });
    const replies = await Promise.all(Array.from({ length: 30 }, () => request(`${url}/v1/products`, { method: 'GET' })));
    const statuses = replies.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 503]));
    expect(replies.find(({ status }) => status === 503)?.headers.get('retry-after')).toBe('2');
    expect((await request(`${url}/v1/products`, { method: 'GET' })).status).toBe(200);
  });
});
