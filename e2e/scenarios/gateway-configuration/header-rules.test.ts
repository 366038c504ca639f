/** Rules for headers between clients, the gateway and real subgraphs. */
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

const RULES = `
headers:
  forward: [x-both]
  request:
    - { propagate: X-Tenant, as: X-Tenant-Id, default: none }
    - { insert: X-Gateway, value: "\${GATEWAY_NAME:unnamed}" }
subgraphs:
  prices:
    headers:
      request:
        - { propagate: X-Secret }
        - { remove: X-Gateway }
        - { remove: Authorization }
        - { remove: X-Both }
      response:
        - { propagate: Date, as: X-Priced-At }
        - { propagate: X-None, default: absent }
        - { insert: X-Source, value: prices }
`;
const SENT = { 'x-tenant': 'acme', 'x-secret': 's', 'x-both': 'b', 'x-other': 'o', authorization: 'Basic YTpi', te: 'trailers' };

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-header-rules-'));
  await writeFile(join(folder, 'rules.yaml'), RULES);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe.each([
  ['lean', 'bytes'],
  ['undici', 'objects'],
])('rules for headers, with the client %s and the executor %s', (client, executor) => {
  let federation: Federation;
  beforeAll(async () => {
    const args = ['--config', join(folder, 'rules.yaml'), '--set', `traffic.client=${client}`, '--set', `engine.executor=${executor}`];
    federation = await startFederation(SOURCES, { args, env: { GATEWAY_NAME: 'g1' } });
  });
  afterAll(() => federation.stop());

  /** Returns the headers that the last fetch of a subgraph had. */
  const lastOf = (subgraph: string) => federation.received.findLast((each) => each.subgraph === subgraph)?.headers ?? {};

  it('renames, inserts and removes for all subgraphs and for one', async () => {
    expect((await federation.ask(QUERY, {}, SENT)).body).toEqual({ data: { lamp: { price: 5 } } });
    const [lamps, prices] = [lastOf('lamps'), lastOf('prices')];
    expect(lamps).toMatchObject({ 'x-tenant-id': 'acme', 'x-gateway': 'g1', 'x-both': 'b', authorization: 'Basic YTpi' });
    expect(prices).toMatchObject({ 'x-tenant-id': 'acme', 'x-secret': 's', 'content-type': 'application/json' });
    for (const name of ['x-secret', 'x-tenant', 'x-other', 'te']) expect(lamps).not.toHaveProperty(name);
    for (const name of ['x-gateway', 'x-both', 'authorization', 'x-tenant', 'x-other', 'te']) expect(prices).not.toHaveProperty(name);
  });

  it('sends the default when the client sends no header', async () => {
    await federation.ask(QUERY);
    expect([lastOf('lamps')['x-tenant-id'], lastOf('prices')['x-secret']]).toEqual(['none', undefined]);
  });

  it('returns headers of the response to a query, with defaults and values of its own', async () => {
    const { headers } = await federation.ask(QUERY);
    expect(Date.parse(headers.get('x-priced-at') ?? '')).toBeGreaterThan(Date.now() - 60_000);
    expect([headers.get('x-none'), headers.get('x-source')]).toEqual(['absent', 'prices']);
    const other = await federation.ask('mutation { dim }');
    expect([other.status, other.headers.get('x-source'), lastOf('lamps')['x-gateway']]).toEqual([200, null, 'g1']);
  });
});

const RULES_OF_TOKENS = `
headers:
  request:
    - { propagate: X-Tenant }
    - { propagate: X-User }
    - { insert: X-User, claim: sub, default: nobody }
    - { insert: X-Mail, claim: email }
    - { insert: X-Roles, claim: "realm.roles" }
    - { insert: X-Gateway, value: g1 }
  response:
    - { propagate: Set-Cookie }
    - { propagate: Cache-Control }
subgraphs:
  prices: { headers: { request: [{ remove: X-Tenant }] } }
`;

describe('rules for headers, with tokens', () => {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const token = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_1' })).token;
  let federation: Federation;
  beforeAll(async () => {
    const [rules, key] = [join(folder, 'tokens.yaml'), join(folder, 'key.pem')];
    await writeFile(rules, RULES_OF_TOKENS);
    await writeFile(key, publicKeyPem);
    federation = await startFederation(SOURCES, { args: ['--config', rules, '--auth', 'on'], env: { TOKEN_PUBLIC_KEY_FILE: key } });
  });
  afterEach(() => {
    federation.received.length = 0;
    federation.intercept = undefined;
  });
  afterAll(() => federation.stop());

  const lastOf = (subgraph: string) => federation.received.findLast((each) => each.subgraph === subgraph)?.headers ?? {};

  it('inserts claims in place of what the client sends, and defaults without a token', async () => {
    await federation.ask(QUERY, {}, { authorization: `Bearer ${token}`, 'x-user': 'usr_admin' });
    for (const subgraph of ['lamps', 'prices']) expect(lastOf(subgraph)).toMatchObject({ 'x-user': 'usr_1', 'x-gateway': 'g1' });
    expect(lastOf('lamps')).not.toHaveProperty('x-mail');
    await federation.ask(QUERY, {}, { 'x-user': 'usr_admin' });
    expect(lastOf('lamps')).toMatchObject({ 'x-user': 'nobody' });
  });

  it('applies to subscriptions: to connection_init of the subgraph and to the fetches of an event', async () => {
    const connectionParams = { 'X-Tenant': 'acme', 'x-user': 'usr_admin' };
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { lit { price } }', token, connectionParams });
    expect((await subscriber.wait(1))[0]).toMatchObject({ data: { lit: { price: 5 } } });
    await subscriber.stop();
    expect(lastOf('lamps')).toMatchObject({ 'x-user': 'usr_1', 'x-tenant': 'acme', 'x-gateway': 'g1', authorization: `Bearer ${token}` });
    expect(lastOf('prices')).toMatchObject({ 'x-user': 'usr_1', 'x-gateway': 'g1' });
    expect(lastOf('prices')).not.toHaveProperty('x-tenant');
  });

  it('refuses values in connection_init that no header may have', async () => {
    const connectionParams = { 'x-tenant': 'a\r\nx-user: usr_admin' };
    const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { lit { price } }', connectionParams });
    await subscriber.end();
    expect(federation.received).toEqual([]);
  });

  const url = (query: string) => `${federation.url}?query=${encodeURIComponent(query)}`;

  it('returns every cookie in order, and no cache keeps such a response', async () => {
    federation.intercept = ({ subgraph }, _, response) => {
      response.setHeader('set-cookie', subgraph === 'lamps' ? ['b=1; Path=/', 'a=1'] : ['c=1']);
      response.setHeader('cache-control', 'max-age=60');
    };
    const { headers } = await fetch(url(QUERY));
    expect(headers.getSetCookie()).toEqual(['b=1; Path=/', 'a=1', 'c=1']);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('merges Cache-Control to the strictest, which a shared cache (undici) keeps to', async () => {
    federation.intercept = ({ subgraph }, _, response) => {
      response.setHeader('cache-control', subgraph === 'lamps' ? 'max-age=600, s-maxage=3600' : 'public, max-age=60');
    };
    const dispatcher = new Agent().compose(interceptors.cache({ type: 'shared' }));
    const get = async (headers = {}) => {
      const response = await fetchByUndici(url(QUERY), { dispatcher, headers });
      expect(await response.json()).toEqual({ data: { lamp: { price: 5 } } });
      return [response.headers.get('cache-control'), federation.received.splice(0).length];
    };
    expect(await get()).toEqual(['public, max-age=60', 2]);
    expect(await get()).toEqual(['public, max-age=60', 0]);
    expect(await get({ authorization: `Bearer ${token}` })).toEqual(['private, max-age=60', 2]);
    expect(await get({ authorization: `Bearer ${token}` })).toEqual(['private, max-age=60', 2]);
    await dispatcher.close();
    const cacheControlOf = async () => (await fetch(url(QUERY))).headers.get('cache-control');
    federation.intercept = ({ subgraph }, _, response) => {
      response.setHeader('cache-control', subgraph === 'lamps' ? 'max-age=600' : 'private, max-age=60');
    };
    expect(await cacheControlOf()).toBe('private, max-age=60');
    federation.intercept = ({ subgraph }, _, response) => {
      if (subgraph === 'lamps') response.setHeader('cache-control', 'max-age=600');
    };
    expect(await cacheControlOf()).toBe('no-store');
  });

  it('subtracts the Age of a response, and keeps none that varies by everything', async () => {
    const cacheControlOf = async (headers: Readonly<Record<string, string>>) => {
      federation.intercept = ({ subgraph }, _, response) => {
        response.setHeader('cache-control', 'max-age=60');
        if (subgraph === 'prices') for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      };
      return (await fetch(url(QUERY))).headers.get('cache-control');
    };
    expect(await cacheControlOf({ age: '25' })).toBe('public, max-age=35');
    expect(await cacheControlOf({ vary: '*' })).toBe('no-store');
    expect(await cacheControlOf({})).toBe('public, max-age=60');
  });

  it('takes the default of a rule for a subgraph that does not say how long', async () => {
    const file = join(folder, 'cache-default.yaml');
    await writeFile(file, 'headers: { response: [{ propagate: Cache-Control, default: "max-age=45" }] }\n');
    const other = await startFederation(SOURCES, { args: ['--config', file] });
    try {
      other.intercept = ({ subgraph }, _, response) => {
        if (subgraph === 'lamps') response.setHeader('cache-control', 'max-age=600');
      };
      const { headers } = await fetch(`${other.url}?query=${encodeURIComponent(QUERY)}`);
      expect(headers.get('cache-control')).toBe('public, max-age=45');
    } finally {
      await other.stop();
    }
  });
});
