/** An extension that replaces the credential of fetches: claims, kept results and subscriptions remain those of each caller. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { CACHE_CONTROL } from '../response-cache/lamps.ts';

const SOURCES = {
  books: {
    sdl: `${CACHE_CONTROL}
      type Query { mine: String @cacheControl(maxAge: 60, scope: PRIVATE) }
      type Subscription { read: String }`,
    resolvers: {
      Query: { mine: () => 'a book' },
      Subscription: {
        read: {
          subscribe: async function* () {
            yield await Promise.resolve({ read: 'a page' });
          },
        },
      },
    },
  },
};
const CONFIGURATION = `
headers: { request: [{ insert: X-User, claim: sub, default: nobody }] }
responseCache: { store: memory, sharing: all }
extensions: { file: exchange.mjs }
`;
const EXCHANGE = `export default { name: 'exchange', onContext: ({ setSubgraphHeader }) => setSubgraphHeader('Authorization', 'Bearer exchanged') };`;

describe('an extension that replaces the credential', () => {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const issuer = createTokenIssuer({ privateKeyPem });
  const [ann, ben] = ['usr_ann', 'usr_ben'].map((id) => issuer.issue(createTestGrant({ id })).token) as [string, string];
  let folder: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-replaced-credential-'));
    const file = (name: string) => join(folder, name);
    await Promise.all([
      writeFile(file('trestle.yaml'), CONFIGURATION),
      writeFile(file('exchange.mjs'), EXCHANGE),
      writeFile(file('key.pem'), publicKeyPem),
    ]);
    const args = ['--config', file('trestle.yaml'), '--auth', 'on'];
    federation = await startFederation(SOURCES, { args, env: { TOKEN_PUBLIC_KEY_FILE: file('key.pem') } });
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    federation.received.length = 0;
  });

  const usersOf = () => federation.received.map(({ headers }) => [headers['x-user'], headers.authorization]);

  it('changes neither the claims of the caller nor who gets a private result', async () => {
    for (const token of [ann, ann, ben]) await federation.ask('{ mine }', {}, { authorization: `Bearer ${token}` });
    await federation.ask('{ mine }');
    const sent = 'Bearer exchanged';
    expect(usersOf()).toEqual([
      ['usr_ann', sent],
      ['usr_ben', sent],
      ['nobody', sent],
    ]);
  });

  it('applies to subscriptions, and the subgraph gets nothing of the token that the client has sent', async () => {
    for (const token of [ann, ben]) {
      const subscriber = subscribeTo(federation.gateway.url, { query: 'subscription { read }', token });
      await subscriber.wait(1);
      await subscriber.stop();
    }
    expect(usersOf()).toEqual([
      ['usr_ann', 'Bearer exchanged'],
      ['usr_ben', 'Bearer exchanged'],
    ]);
    for (const token of [ann, ben]) expect(JSON.stringify(federation.received)).not.toContain(token);
  });
});
