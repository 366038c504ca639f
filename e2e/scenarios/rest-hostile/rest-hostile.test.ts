/** What hostile clients send to the bridge: values that no field takes, targets that lead elsewhere, texts made to be slow to read. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import type { LeasedStack } from '../../stack/leased-stack.ts';
import { type Account, createClients } from '../../stack/stack.ts';
import { type OAuthSystem, leaseOAuthSystem } from '../oauth/oauth-system.ts';
import { type HostileRequest, type OpenApiDocument, hostileRequests } from './hostile-requests.ts';

const REQUESTS_PER_VERSION = 400;
const AT_ONCE = 8;

// Links to set a new password need the public origin.
let system: OAuthSystem;
let stack: LeasedStack;
let admin: Account;
beforeAll(async () => {
  system = await leaseOAuthSystem();
  stack = system.stack;
  admin = await stack.createAccount('Root', 'ADMIN');
});
afterAll(() => system.stop());

/** Sends a request target to the bridge itself as it is, which no client library and no load balancer would do. Returns the status line and all headers. */
function target(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(stack.direct.rest).port), '127.0.0.1', () =>
      socket.write(`GET ${text} HTTP/1.1\r\nHost: trestle.example\r\nConnection: close\r\n\r\n`),
    );
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer.split('\r\n\r\n')[0] ?? '');
    });
  });
}

/** nginx refuses these, and the bridge must be able to do so too. */
const NOT_PASSED_ON = /%00|%(?![\da-f]{2})/i;
const originFor = (path: string) => (NOT_PASSED_ON.test(path) ? stack.direct : stack).rest;

describe('an invalid value in a parameter or a body', () => {
  // Contract §5, spec §7.3: errors of clients are 4xx with a code; 5xx is for errors of the server.
  it.each(['/v1', '/v2'])(
    'is never answered 5xx under %s',
    async (prefix) => {
      const document = (await request(`${stack.rest}${prefix}/openapi.json`, { method: 'GET' })).body as OpenApiDocument;
      const all = [...hostileRequests(document, prefix)];
      // An equal share of each operation, and different requests in each version.
      const step = Math.ceil(all.length / REQUESTS_PER_VERSION);
      const chosen = all.filter((_, place) => place % step === Number(prefix.slice(2)));
      const queue = chosen.values();
      const failures: object[] = [];
      const send = async ({ method, path, headers, body }: HostileRequest) => {
        // A logout would revoke the token of the other requests.
        const token = path.includes('/auth/logout') ? undefined : admin.token;
        const reply = await request(`${originFor(path)}${path}`, { method, headers, body, token });
        const { error } = (reply.body ?? {}) as { error?: { code?: string } };
        const isFine = reply.status < 400 || (reply.status < 500 && typeof error?.code === 'string') || error?.code === 'NOT_IMPLEMENTED';
        if (!isFine) failures.push({ method, path, body, status: reply.status, text: reply.text });
      };
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          for (const each of queue) await send(each);
        }),
      );
      expect(failures).toEqual([]);
      expect(chosen.length).toBeGreaterThan(REQUESTS_PER_VERSION / 2);
      expect((await stack.call('GET', '/v1/orders', { token: admin.token })).status).toBe(200);
    },
    120_000,
  );

  // PostgreSQL has no year 0; RFC 3339 §5.6 has no hour 24, and JavaScript has no leap seconds.
  it.each(['0000-01-01T00:00:00Z', '10000-01-01T00:00:00Z', '2026-01-01T24:00:00Z', '2016-12-31T23:59:60Z', '-000001-01-01T00:00:00Z'])(
    'is answered 400 with details: the date %s',
    async (date) => {
      const reply = await stack.call('GET', `/v1/posts?createdAt_gte=${date}`);
      expect(reply.body).toMatchObject({ error: { code: 'VALIDATION_ERROR', details: [{ field: 'createdAt_gte' }] } });
    },
  );

  it('is answered with an error of bounded size for any number of fields', async () => {
    const fields = Array.from({ length: 100_000 }, (_, i) => `"${i.toString(36)}":1`);
    const reply = await stack.call('POST', '/v1/users', { body: `{${fields.join(',')}}`, headers: { 'content-type': 'application/json' } });
    expect([reply.status, (reply.body as { error: { details: object[] } }).error.details.length]).toEqual([400, 100]);
    expect(reply.text.length).toBeLessThan(20_000);
  });
});

describe('a body near the size limit', () => {
  const body = (bytes: number) => {
    const [start, end] = ['{"title":"Long","body":"', '"}'];
    return `${start}${'x'.repeat(bytes - start.length - end.length)}${end}`;
  };
  const post = (text: string) =>
    stack.call('POST', '/v1/posts', { body: text, token: admin.token, headers: { 'content-type': 'application/json' } });

  // Contract §6: 1 MiB. The gateway takes as much, so that the document and the names of variables count as well.
  it.each([
    [1_000_000, 400],
    [1_048_323, 400],
    [1_048_500, 413],
    [1_048_576, 413],
    [1_048_577, 413],
  ])('of %d bytes is answered with %d', async (bytes, status) => {
    const reply = await post(body(bytes));
    expect([reply.status, (reply.body as { error: { code: string } }).error.code]).toEqual([
      status,
      status === 413 ? 'PAYLOAD_TOO_LARGE' : 'VALIDATION_ERROR',
    ]);
  });

  it('is accepted with any escapes when each field is within its limit', async () => {
    const text = JSON.stringify({ title: 'Escaped', body: '' }).replace('""', `"${'\\u0041'.repeat(100_000)}"`);
    expect((await post(text)).status).toBe(201);
  });
});

describe('an id that cannot be one', () => {
  it.each([
    ['GET', '/v1/users/%E0%A4%A'],
    ['GET', '/v1/users/a%00b'],
    ['DELETE', '/v1/sessions/ses_%00x'],
    ['GET', `/v1/users/${'x'.repeat(101)}`],
    ['PATCH', `/v1/posts/${'x'.repeat(101)}`],
  ])('is answered 404 to %s %s', async (method, path) => {
    const { status, body } = await createClients({ ...stack, rest: originFor(path) }).call(method, path, { token: admin.token });
    expect([status, (body as { error: { code: string } }).error.code]).toEqual([404, 'NOT_FOUND']);
  });
});

describe('a redirect', () => {
  // RFC 3986 §4.2 and WHATWG URL: `//host` and `/\host` are references to another host.
  it.each([
    '/\\evil.example/',
    '//evil.example/',
    '///evil.example/',
    '/\\/evil.example/',
    '/%5Cevil.example/',
    '/%2F%2Fevil.example/',
    '/%09/evil.example/',
    '/.//evil.example/',
    '/..//evil.example/',
    '/v1//evil.example/',
    '/v1/..//evil.example/',
    '/api/\\evil.example/',
    '/api/v1/\\evil.example/',
    'http://evil.example//evil.example/',
    'http:\\\\evil.example/',
    'foo://evil.example/',
    '/users/\\evil.example/x/',
  ])('is never sent from %s to another host', async (text) => {
    const head = await target(text);
    expect(head).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(head).not.toMatch(/^location:/im);
  });

  it.each([
    ['/users/', '/users'],
    ['/v1/users///', '/v1/users'],
    ['/api/v1/users/?name=//evil.example', '/api/v1/users?name=%2F%2Fevil.example'],
    ['http://evil.example/v1/users/', '/v1/users'],
    ['/users/\\evil.example/', '/users/%5Cevil.example'],
    ['/v1/users/me/', '/v1/users/me'],
  ])('is sent from %s to %s of the same origin', async (text, location) => {
    expect(await target(text)).toMatch(new RegExp(`^HTTP/1\\.1 301 [\\s\\S]*^location: ${location.replace(/[?.]/g, '\\$&')}$`, 'im'));
  });

  it('is not sent for a request target that is not a URL, which is answered 400', async () => {
    expect(await target('http://[')).toMatch(/^HTTP\/1\.1 400 /);
  });
});
