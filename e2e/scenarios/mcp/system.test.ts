/** Tools of the whole system: with the caller's identity and limits, as the same operations over HTTP; and the tour of docs/gateway/mcp.md. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';
import type { Account } from '../../stack/stack.ts';
import { parsePage } from '../documents/markdown.ts';
import { read } from '../documents/repository.ts';
import { openShell } from '../documents/shell.ts';
import { call, send, toMessage, withAgent } from './agent.ts';

const { blocks } = parsePage(read('docs/gateway/mcp.md'));
const codeOf = (language: string) => blocks.find((block) => block.language === language)?.code ?? '';
const documents = {
  ...(JSON.parse(codeOf('json')) as Record<string, string>),
  email: 'query Email($id: ID!) { user(id: $id) { name email } }',
  login: 'mutation Login($email: String!, $password: String!) { login(email: $email, password: $password) { token } }',
};

let home: string;
let stack: LeasedStack;
let gateway: RunningProcess;
let ada: Account;
let bob: Account;
let env: Record<string, string>;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-mcp-'));
  const file = join(home, 'documents.json');
  await writeFile(file, JSON.stringify(documents));
  stack = await leaseStack();
  [ada, bob] = [await stack.createAccount('Ada'), await stack.createAccount('Bob')];
  env = { MCP: 'on', MCP_MUTATIONS: 'on', TRUSTED_DOCUMENTS_FILE: file };
  gateway = await stack.startGateway(env);
});
afterAll(async () => {
  await stack.stop();
  await rm(home, { recursive: true, force: true });
});

const withoutIds = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replace(/"requestId":"[^"]*"/g, '"requestId":""'));

describe('a tool of the whole system', () => {
  it('returns what the document returns by HTTP to the same caller', async () => {
    const calls: readonly (readonly [string, string, Record<string, unknown>])[] = [
      ['Me', 'me', {}],
      ['Email', 'email', { id: ada.id }],
      ['Rename', 'rename', { id: ada.id, name: '' }],
      ['Rename', 'rename', { id: bob.id, name: 'Bobby' }],
      ['FindPeople', 'findPeople', { text: 'ada' }],
      ['FindPeople', 'findPeople', { text: 'ada', first: 100_000 }],
    ];
    for (const token of [undefined, ada.token, bob.token])
      await withAgent(
        gateway.url,
        async (agent) => {
          for (const [tool, documentId, variables] of calls) {
            const { structuredContent } = await call(agent, tool, variables);
            const reply = await request(`${gateway.url}/graphql`, { method: 'POST', token, body: { documentId, variables } });
            expect([tool, withoutIds(structuredContent)]).toEqual([tool, withoutIds(reply.body)]);
          }
        },
        token === undefined ? {} : { token },
      );
  });

  it('knows who calls', async () => {
    const idOf = (token: string) =>
      withAgent(gateway.url, async (agent) => (await call(agent, 'Me')).structuredContent.data?.['me'], { token });
    expect(await idOf(ada.token)).toMatchObject({ id: ada.id });
    expect(await idOf(bob.token)).toMatchObject({ id: bob.id });
    const anonymous = await withAgent(gateway.url, (agent) => call(agent, 'Me'));
    expect(anonymous.structuredContent).toEqual({ data: { me: null } });
    const email = await withAgent(gateway.url, (agent) => call(agent, 'Email', { id: bob.id }), { token: ada.token });
    expect(email.structuredContent.data?.['user']).toMatchObject({ name: expect.any(String) });
    expect(JSON.stringify(email)).not.toContain('bob@example.org');
    const rename = await withAgent(gateway.url, (agent) => call(agent, 'Rename', { id: bob.id, name: 'B' }), { token: ada.token });
    expect([rename.isError, rename.structuredContent.errors?.[0]?.extensions.code]).toEqual([true, 'FORBIDDEN']);
  });

  it('is refused with 401 for a forged, expired or malformed credential, also where it needs none', async () => {
    const issuer = createTokenIssuer({ privateKeyPem: generateTokenKeys().privateKeyPem });
    const forged = issuer.issue(createTestGrant({ id: ada.id, role: 'ADMIN' })).token;
    for (const token of [forged, stack.issueEndingToken(ada.id, 'USER', -60), 'x.y.z', `${ada.token}x`])
      for (const message of [
        toMessage('tools/list'),
        toMessage('tools/call', { name: 'Login', arguments: { email: 'a@b.c', password: 'x' } }),
      ]) {
        const { status, headers, body } = await send(gateway.url, message, { token });
        expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="api", error="invalid_token"']);
        expect(body).toMatchObject({ jsonrpc: '2.0', error: { data: { code: 'UNAUTHORIZED' } } });
      }
    const headers = { 'x-api-key': 'trestle_live_x' };
    expect((await send(gateway.url, toMessage('tools/list'), { token: ada.token, headers })).status).toBe(400);
  });

  it('counts for the limit of requests per minute', async () => {
    const limited = await stack.startGateway({ ...env, RATE_LIMIT_FREE_PER_MIN: '6' });
    const statuses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const { status, body, headers } = await send(limited.url, toMessage('tools/call', { name: 'Me' }), { token: ada.token });
      statuses.push(status);
      if (status === 429) {
        expect(body).toMatchObject({ error: { data: { code: 'RATE_LIMIT_EXCEEDED' } } });
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
      }
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429, 429]);
  });
});

describe('the tour of docs/gateway/mcp.md', () => {
  it('prints the tools and who the caller is', async () => {
    const shell = openShell();
    try {
      await shell.run(`TOKEN=${ada.token}`);
      for (const { language, code } of blocks)
        if (language === 'sh') await shell.run(code.replaceAll('localhost:4000', new URL(gateway.url).host));
      expect(shell.output()).toContain('"description":"Finds people by their name or bio."');
      expect(shell.output()).toContain(`"structuredContent":{"data":{"me":{"id":"${ada.id}"`);
    } finally {
      await shell.stop();
    }
  });
});
