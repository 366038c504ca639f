/** Rules for headers with patterns, between clients, the gateway and real subgraphs. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { Agent, fetch as fetchByUndici, interceptors } from 'undici';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { QUERY, SOURCES } from './priced-lamps.ts';

const RULES_WITH_PATTERNS = `
headers:
  request:
    - { propagate: X-Tenant-* }
  response:
    - { propagate: Cache-Control }
subgraphs:
  prices:
    headers:
      request:
        - { propagate: "*" }
        - { remove: X-*-Secret }
`;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-header-patterns-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['lean', 'bytes'],
  ['undici', 'objects'],
])('rules with patterns, with the client %s and the executor %s', (client, executor) => {
  let federation: Federation;
  beforeAll(async () => {
    const file = join(folder, 'patterns.yaml');
    await writeFile(file, RULES_WITH_PATTERNS);
    const args = ['--config', file, '--set', `traffic.client=${client}`, '--set', `engine.executor=${executor}`];
    federation = await startFederation(SOURCES, { args });
  });
  afterEach(() => {
    federation.received.length = 0;
    federation.intercept = undefined;
  });
  afterAll(() => federation.stop());

  const lastOf = (subgraph: string) => federation.received.findLast((each) => each.subgraph === subgraph)?.headers ?? {};

  it('pass on headers that match, to the subgraphs with the rule only', async () => {
    const sent = { 'X-Tenant-Id': 'acme', 'x-tenant-secret': 's', 'x-other': 'o', cookie: 'a=1', te: 'trailers', 'accept-language': 'de' };
    const { body } = await federation.ask(QUERY, {}, { ...sent, authorization: 'Basic YTpi', 'x-request-id': 'r-1' });
    expect(body).toEqual({ data: { lamp: { price: 5 } } });
    expect(lastOf('lamps')).toMatchObject({ 'x-tenant-id': 'acme', 'x-tenant-secret': 's', authorization: 'Basic YTpi' });
    for (const name of ['x-other', 'accept-language', 'cookie', 'te']) expect(lastOf('lamps')).not.toHaveProperty(name);
    expect(lastOf('prices')).toMatchObject({
      'x-tenant-id': 'acme',
      'x-other': 'o',
      'accept-language': 'de',
      'content-type': 'application/json',
    });
    for (const name of ['x-tenant-secret', 'cookie', 'te']) expect(lastOf('prices')).not.toHaveProperty(name);
  });

  it('pass on strings of connection_init, and refuse values that no header may have', async () => {
    const query = 'subscription { lit { price } }';
    const subscriber = subscribeTo(federation.gateway.url, {
      query,
      connectionParams: { 'X-Tenant-Id': 'acme', 'x other': 'o', 'x-n': 1 },
    });
    expect((await subscriber.wait(1))[0]).toMatchObject({ data: { lit: { price: 5 } } });
    await subscriber.stop();
    expect(lastOf('lamps')).toMatchObject({ 'x-tenant-id': 'acme' });
    expect(lastOf('prices')).toMatchObject({ 'x-tenant-id': 'acme' });
    expect(lastOf('prices')).not.toHaveProperty('x-n');
    federation.received.length = 0;
    for (const value of ['a\r\nx-admin: 1', 'v'.repeat(20_000)]) {
      const refused = subscribeTo(federation.gateway.url, { query, connectionParams: { 'x-tenant-id': value } });
      await refused.end();
    }
    expect(federation.received).toEqual([]);
  });

  it('refuse a request with more than 100 of them', async () => {
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-tenant-${String(i)}`, 'v']));
    const refused = await federation.ask(QUERY, {}, headers);
    expect([refused.status, refused.body]).toEqual([400, expect.objectContaining({ errors: [expect.anything()] })]);
    expect(federation.received).toEqual([]);
  });

  it('add Vary: *, so that no cache reuses a response', async () => {
    federation.intercept = (_request, _body, response) => {
      response.setHeader('cache-control', 'max-age=60');
    };
    const dispatcher = new Agent().compose(interceptors.cache({ type: 'private' }));
    const get = async () => {
      const response = await fetchByUndici(`${federation.url}?query=${encodeURIComponent(QUERY)}`, { dispatcher });
      expect(await response.json()).toEqual({ data: { lamp: { price: 5 } } });
      return [response.headers.get('cache-control'), response.headers.get('vary'), federation.received.splice(0).length];
    };
    expect([await get(), await get()]).toEqual(Array(2).fill(['private, max-age=60', '*', 2]));
    await dispatcher.close();
  });
});

it('passes on no token that a header of authentication.tokenSources has, but in Authorization', async () => {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const { token } = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_1' }));
  const [file, key] = [join(folder, 'tokens.yaml'), join(folder, 'key.pem')];
  await writeFile(file, 'authentication: { tokenSources: ["header:X-Access-Token"] }\nheaders: { request: [{ propagate: "X-*" }] }\n');
  await writeFile(key, publicKeyPem);
  const federation = await startFederation(SOURCES, { args: ['--config', file, '--auth', 'on'], env: { TOKEN_PUBLIC_KEY_FILE: key } });
  try {
    await federation.ask(QUERY, {}, { 'x-access-token': token, 'x-other': 'o' });
    expect(federation.received).toHaveLength(2);
    for (const { headers } of federation.received) {
      expect(headers).toMatchObject({ authorization: `Bearer ${token}`, 'x-other': 'o' });
      expect(headers).not.toHaveProperty('x-access-token');
    }
  } finally {
    await federation.stop();
  }
});
