/** How an agent finds out where to get a token (RFC 9728; MCP 2025-11-25, "Authorization"), with the authorization server of the whole system. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { request } from '../../stack/clients/client.ts';
import { startGateway } from '../../stack/federation/federation.ts';
import { type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from '../oauth/oauth-system.ts';
import { call, send, toMessage, withAgent } from './agent.ts';

const METADATA = '/.well-known/oauth-protected-resource/mcp';

let home: string;
let system: OAuthSystem;
let machine: RegisteredClient;
let url: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-mcp-'));
  const file = join(home, 'documents.json');
  await writeFile(file, JSON.stringify({ me: 'query Me { me { id name } }' }));
  system = await leaseOAuthSystem();
  machine = await system.register({ grantTypes: ['client_credentials'], scopes: ['users:read'], owner: system.ada.id });
  const port = String(await reserveTestPort());
  url = `http://127.0.0.1:${port}`;
  await system.stack.startGateway({
    MCP: 'on',
    MCP_REQUIRE_CREDENTIAL: 'on',
    MCP_AUTHORIZATION_SERVERS: system.issuer,
    TRUSTED_DOCUMENTS_FILE: file,
    PUBLIC_URL: `${url}/`,
    GATEWAY_PORT: port,
  });
});
afterAll(async () => {
  await system.stop();
  await rm(home, { recursive: true, force: true });
});

describe('an agent without a token', () => {
  it('is answered 401 with the address of the metadata, as is one whose token is invalid', async () => {
    const parameters = `resource_metadata="${url}${METADATA}"`;
    for (const [token, challenge] of [
      [undefined, `Bearer realm="api", ${parameters}`],
      ['x.y.z', `Bearer realm="api", error="invalid_token", ${parameters}`],
    ] as const) {
      const { status, headers, body } = await send(url, toMessage('tools/list'), { token });
      expect([status, headers.get('www-authenticate')]).toEqual([401, challenge]);
      expect(body).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'UNAUTHORIZED' } } });
    }
  });

  it('gets no such challenge at /graphql, where credentials are not required', async () => {
    const body = { query: '{ __typename }' };
    expect((await request(`${url}/graphql`, { method: 'POST', body })).status).toBe(200);
    const refused = await request(`${url}/graphql`, { method: 'POST', body, token: 'x.y.z' });
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="api", error="invalid_token"');
  });

  it('reads which authorization servers give tokens for which address', async () => {
    const { status, headers, body } = await request(url + METADATA, { method: 'GET' });
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(body).toEqual({ resource: `${url}/mcp`, authorization_servers: [system.issuer], bearer_methods_supported: ['header'] });
    const other = await request(url + METADATA, { method: 'POST', body: {} });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS']);
  });

  it('gets a token by itself, and calls a tool as the owner of its client', async () => {
    const authProvider = new ClientCredentialsProvider({
      clientId: machine.id,
      clientSecret: machine.secret,
      scope: 'users:read',
      expectedIssuer: system.issuer,
    });
    const me = await withAgent(url, (agent) => call(agent, 'Me'), { authProvider });
    expect(me.structuredContent).toEqual({ data: { me: { id: system.ada.id, name: 'Ada' } } });
  });
});

describe('the settings of the authorization of agents', () => {
  it('are refused where no credentials are checked, and without the public address', async () => {
    const args = ['--port', '0', '--auth', 'off', '--mcp', 'on'];
    await expect(startGateway(args, { MCP_REQUIRE_CREDENTIAL: 'on' })).rejects.toThrow(/MCP_REQUIRE_CREDENTIAL: needs auth/);
    await expect(startGateway(args, { MCP_AUTHORIZATION_SERVERS: 'https://login.example.com' })).rejects.toThrow(
      /MCP_AUTHORIZATION_SERVERS: needs server\.publicUrl/,
    );
  });
});
