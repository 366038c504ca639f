/** How the bridge passes on requests to the authorization server: which paths and methods, with which headers, up to which size. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { authorizationPath } from './authorization-request.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

let system: OAuthSystem;
let app: RegisteredClient;

beforeAll(async () => {
  system = await leaseOAuthSystem();
  app = await system.register({
    ...{ grantTypes: ['authorization_code'], scopes: ['openid'], owner: system.ada.id },
    ...{ isPublic: true, redirectUris: [CALLBACK] },
  });
});
afterAll(() => system.stop());

describe('the bridge', () => {
  it('sets the public address itself, whatever a client says', async () => {
    const headers = { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https', forwarded: 'host=evil.example' };
    const text = await (await fetch(`${system.issuer}/.well-known/openid-configuration`, { headers })).text();
    expect(text).not.toContain('evil.example');
    const { headers: answered } = await fetch(`${system.issuer}${authorizationPath(app.id)}`, { headers, redirect: 'manual' });
    expect(answered.get('location')).not.toContain('evil');
  });

  it.each(['/oauth/', '/oauth/nothing', '/oauth/authorize/../../graphql', '/oauth/interaction/', '/oauth/reg', '/graphql'])(
    'passes nothing else on: %s',
    async (path) => {
      const { status, body } = await system.stack.call('GET', path);
      expect({ status, code: (body as { error?: { code?: string } } | undefined)?.error?.code }).toEqual({
        status: 404,
        code: 'NOT_FOUND',
      });
    },
  );

  it('answers 405 with the allowed methods, as on every other path', async () => {
    for (const [path, method, allow] of [
      ['/oauth/token', 'GET', 'POST, OPTIONS'],
      ['/oauth/jwks', 'POST', 'GET, HEAD, OPTIONS'],
      ['/oauth/userinfo', 'DELETE', 'GET, HEAD, POST, OPTIONS'],
    ] as const) {
      const refused = await fetch(`${system.issuer}${path}`, { method });
      expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, allow]);
      const asked = await fetch(`${system.issuer}${path}`, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow')]).toEqual([200, allow]);
    }
  });

  it('sends the headers of security and the request id with every response of the authorization server', async () => {
    const id = '4a1f8a52-7b0e-4d3c-9f64-2f1b6f1c9a10';
    for (const path of ['/.well-known/openid-configuration', '/oauth/jwks', '/oauth/device', '/oauth/authorize', '/oauth/token']) {
      const { headers } = await fetch(`${system.issuer}${path}`, { headers: { 'x-request-id': id } });
      expect([path, headers.get('x-request-id')]).toEqual([path, id]);
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    }
  });

  it('answers HEAD without a Content-Length that GET does not have', async () => {
    const lengthOf = async (method: string) => (await fetch(`${system.issuer}/oauth/jwks`, { method })).headers.get('content-length');
    expect([null, await lengthOf('GET')]).toContain(await lengthOf('HEAD'));
  });

  it('refuses a body of more than 64 KiB', async () => {
    const response = await fetch(`${system.issuer}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ code: 'x'.repeat(70_000) }),
    });
    expect(response.status).toBe(413);
  });

  it.each(['/oauth/token', '/oauth/revoke', '/oauth/introspect', '/oauth/device_authorization'])(
    'gets a 4xx from %s for a body that is no form',
    async (path) => {
      const bodies: RequestInit[] = [
        { body: '{"grant_type":"client_credentials"}', headers: { 'content-type': 'application/json' } },
        { body: 'token=%E0%A4%A&token=b&client_id[]=x', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        {},
      ];
      for (const init of bodies) {
        const { status } = await fetch(`${system.issuer}${path}`, { method: 'POST', ...init });
        expect(Math.floor(status / 100)).toBe(4);
      }
    },
  );
});
