/** The index of the bridge, and the addresses in its documents. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

let stack: LeasedStack;

beforeAll(async () => {
  stack = await leaseStack();
});
afterAll(() => stack.stop());

describe('addresses in documents', () => {
  const read = async (url: string, headers: Record<string, string> = {}) =>
    (await request(`${url}/openapi.json`, { method: 'GET', headers })).body as { readonly servers: readonly { readonly url: string }[] };

  // OpenAPI 3.1 §4.8.5: a server's URL is where clients send their requests.
  it('use the Host of the request', async () => {
    expect((await read(stack.rest)).servers).toMatchObject([{ url: `${stack.rest}/v1` }]);
    const page = await request(`${stack.rest}/docs`, { method: 'GET' });
    expect(page.text).toContain(`curl -s -i &quot;${stack.rest}/v1/products`);
  });

  it('have the protocol that a trusted proxy names, and no other client', async () => {
    const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.1' };
    const behind = await stack.startBridge({ TRUSTED_PROXIES: '127.0.0.1' });
    expect((await read(behind.url, headers)).servers).toMatchObject([{ url: `${behind.url.replace('http:', 'https:')}/v1` }]);
    const alone = await stack.startBridge({ TRUSTED_PROXIES: '' });
    expect((await read(alone.url, headers)).servers).toMatchObject([{ url: `${alone.url}/v1` }]);
  });

  it('use PUBLIC_URL when it is set', async () => {
    const { url } = await stack.startBridge({
      PUBLIC_URL: 'https://api.example.com/',
      PUBLIC_GATEWAY_URL: 'https://graphql.example.com/graphql',
      PUBLIC_REGISTRY_URL: 'https://registry.example.com/graphql',
    });
    expect((await read(url)).servers).toMatchObject([{ url: 'https://api.example.com/v1' }]);
    const index = await request(url, { method: 'GET' });
    expect(index.body).toMatchObject({
      _links: {
        docs: { href: 'https://api.example.com/docs' },
        graphql: { href: 'https://graphql.example.com/graphql' },
        registry: { href: 'https://registry.example.com/graphql' },
        registryDocs: { href: 'https://registry.example.com/docs' },
      },
    });
  });
});

describe('GET /', () => {
  const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

  it('returns an index to programs whose links all resolve', async () => {
    const { body, headers } = await stack.call('GET', '/');
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
    const links = (body as { _links: Record<string, { href: string }> })._links;
    expect(Object.keys(links)).toEqual(['self', 'docs', 'graphql', 'openapi', 'health']);
    expect(links['graphql']?.href).toBe(`${stack.gateway.replace('localhost', '127.0.0.1')}/graphql`);
    const accept = { graphql: 'text/html', docs: 'text/html' } as Readonly<Record<string, string>>;
    for (const [name, { href }] of Object.entries(links))
      expect([name, (await request(href, { method: 'GET', headers: { accept: accept[name] ?? '*/*' } })).status]).toEqual([name, 200]);
  });

  it('returns a page to browsers without scripts and external resources', async () => {
    const page = await request(`${stack.rest}/`, { method: 'GET', headers: { accept: BROWSER } });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('vary')).toMatch(/Accept/);
    // CSP 3 §6: nothing is allowed but the one style, by its hash.
    expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-[\w+/=]+'; img-src data:; /);
    expect(page.text).not.toMatch(/<script|src=|@import|url\(/);
    for (const path of ['/docs', '/openapi.json', '/readyz', '/graphql']) expect(page.text).toContain(`${path}"`);
  });

  it.each(['a"><script>', "x' onload='", 'evil.example/path', 'user@evil.example', 'a b', '', '[::1', 'a'.repeat(300)])(
    'returns no address that contains the Host %j',
    async (host) => {
      const reply = await rawGet(host);
      expect(reply).not.toMatch(/<script|onload|evil/);
      expect(reply).toMatch(/^HTTP\/1\.1 (?:200|400) /);
    },
  );
});

async function rawGet(host: string): Promise<string> {
  const { connect } = await import('node:net');
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(stack.rest).port), '127.0.0.1', () =>
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`),
    );
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString()));
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(answer);
    });
  });
}
