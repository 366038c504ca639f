/** A gateway that serves no anonymous clients (`authentication.required`). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type Answer, type Federation, startFederation } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';

const SOURCES = {
  greetings: {
    sdl: 'type Query { hello: String } type Mutation { login: String bow: String } type Subscription { greeted: String }',
    resolvers: {
      Query: { hello: () => 'Hello' },
      Mutation: { login: () => 'a token', bow: () => 'bowed' },
      Subscription: { greeted: { subscribe: greetOnce } },
    },
  },
};

async function* greetOnce() {
  await Promise.resolve();
  yield { greeted: 'you' };
}

const CONFIGURATION = 'authentication: { enabled: true, required: true, signInFields: [login] }\n';

describe('with authentication.required', () => {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const { token } = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_1' }));
  let folder: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-required-'));
    const [file, key] = [join(folder, 'trestle.yaml'), join(folder, 'key.pem')];
    await writeFile(file, CONFIGURATION);
    await writeFile(key, publicKeyPem);
    federation = await startFederation(SOURCES, { args: ['--config', file, '--auth', 'on'], env: { TOKEN_PUBLIC_KEY_FILE: key } });
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const REFUSED = [401, 'UNAUTHORIZED'];
  const refusalOf = ({ status, body }: { status: number; body: Answer }) => [status, body.errors?.[0]?.extensions['code']];

  it('an operation without a credential is 401, introspection and GET too, and reaches no subgraph', async () => {
    for (const query of ['{ hello }', '{ __schema { types { name } } }', '{ __typename }', 'mutation { bow }', 'mutation { login bow }'])
      expect(refusalOf(await federation.ask(query))).toEqual(REFUSED);
    const byGet = await fetch(`${federation.url}?query={hello}`, { headers: { 'apollo-require-preflight': '1' } });
    expect([byGet.status, byGet.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Bearer/)]);
    expect(federation.received).toEqual([]);
  });

  it('an operation with a token is executed, and one that only signs in without a token', async () => {
    expect((await federation.ask('{ hello }', {}, { authorization: `Bearer ${token}` })).body).toEqual({ data: { hello: 'Hello' } });
    expect((await federation.ask('mutation { login }')).body).toEqual({ data: { login: 'a token' } });
  });

  it('a WebSocket without a token is closed with 4403, and one with a token gets events', async () => {
    const query = 'subscription { greeted }';
    const anonymous = subscribeTo(federation.gateway.url, { query });
    expect(await anonymous.end()).toEqual({ close: 4403 });
    const subscriber = subscribeTo(federation.gateway.url, { query, token });
    expect(await subscriber.wait(1)).toEqual([{ data: { greeted: 'you' } }]);
    await subscriber.stop();
  });

  it('an event stream without a token is 401', async () => {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const body = JSON.stringify({ query: 'subscription { greeted }' });
    expect((await fetch(federation.url, { method: 'POST', headers, body })).status).toBe(401);
  });

  it('GraphiQL and the probes stay open', async () => {
    expect((await fetch(federation.url, { headers: { accept: 'text/html' } })).status).toBe(200);
    expect((await fetch(`${federation.gateway.url}/readyz`)).status).toBe(200);
  });
});
