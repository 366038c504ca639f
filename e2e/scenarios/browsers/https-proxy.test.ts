/** A bridge behind a proxy that ends HTTPS, and what it does with requests that came over plain HTTP. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type OAuthSystem, leaseOAuthSystem } from '../oauth/oauth-system.ts';

let system: OAuthSystem;

beforeAll(async () => {
  system = await leaseOAuthSystem();
});
afterAll(() => system.stop());

describe('a bridge behind a proxy that ends HTTPS', () => {
  it('redirects plain HTTP to the host of PUBLIC_URL, whatever Host says, and refuses credentials with 403', async () => {
    const { url } = await system.stack.startBridge({ PUBLIC_URL: 'https://api.example.com', TRUSTED_PROXIES: '127.0.0.1' });
    const ask = (headers: Record<string, string>, path = '/v1/products?limit=1') =>
      fetch(`${url}${path}`, {
        redirect: 'manual',
        headers: { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'evil.example', ...headers },
      });
    const redirected = await ask({});
    expect([redirected.status, redirected.headers.get('location')]).toEqual([308, 'https://api.example.com/v1/products?limit=1']);
    const credentials = [
      { authorization: `Bearer ${system.ada.token}` },
      { 'x-api-key': 'trestle_live_x' },
      { cookie: 'a=b; __Host-trestle-refresh=x' },
      { cookie: '__Host-trestle-oauth-session=x' },
    ];
    for (const headers of credentials) {
      const refused = await ask(headers);
      expect([refused.status, await refused.json()]).toEqual([403, { error: expect.objectContaining({ code: 'FORBIDDEN' }) }]);
    }
    expect((await ask({}, '/v1/products?apiKey=trestle_live_x')).status).toBe(403);
  });
});
