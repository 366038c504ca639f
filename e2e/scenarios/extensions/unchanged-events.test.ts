/** Extensions that change what they are given, other than by the functions of the interface. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = {
  books: {
    sdl: 'type Query { book(id: ID!): String secret: String @requiresScopes(scopes: [["secrets:read"]]) }',
    resolvers: { Query: { book: (_: unknown, { id }: { id: string }) => id, secret: () => 'a secret' } },
  },
};

/** Does what the header `x-change` names, and reports in the response what it sees of the caller. */
const MODULE = `
const CHANGES = {
  role: ({ caller }) => { caller.role = 'ADMIN'; },
  scopes: ({ caller }) => { caller.scopes.add('secrets:read'); },
  caller: (request) => { request.caller = null; },
  id: (request) => { request.id = 'another'; },
};
export default {
  name: 'changing',
  onContext: ({ request, setResponseHeader }) => {
    const { role, scopes } = request.caller;
    setResponseHeader('x-seen', [role, scopes.has('secrets:read')].join());
    CHANGES[request.headers['x-change']]?.(request);
  },
  onOperation: ({ request, variables }) => {
    if (request.headers['x-change'] === 'variables') variables.id = '2';
    if (request.headers['x-change'] === 'nested variables') variables.list.push('2');
  },
};
`;

describe('an extension that changes what it may not', () => {
  const { privateKeyPem, publicKeyPem } = generateTokenKeys();
  const { token } = createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id: 'usr_ann', role: 'USER' }));
  let folder: string;
  let federation: Federation;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'trestle-unchanged-events-'));
    const file = (name: string) => join(folder, name);
    await writeFile(file('key.pem'), publicKeyPem);
    await writeFile(file('changing.mjs'), MODULE);
    const env = { TOKEN_PUBLIC_KEY_FILE: file('key.pem'), EXTENSIONS_FILE: file('changing.mjs') };
    federation = await startFederation(SOURCES, { args: ['--auth', 'on'], env });
  });
  afterAll(async () => {
    await federation.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const ask = (query: string, change: string, variables?: Record<string, unknown>) =>
    federation.ask(query, variables, { authorization: `Bearer ${token}`, 'x-change': change });

  it.each(['role', 'scopes', 'caller', 'id'])(
    'is refused when it changes the %s of a request, and so are not later requests',
    async (change) => {
      expect(await ask('{ secret }', change)).toMatchObject({
        status: 500,
        body: { errors: [{ extensions: { code: 'INTERNAL_ERROR' } }] },
      });
      const later = await ask('{ secret }', 'nothing');
      expect(later.body).toMatchObject({ data: { secret: null }, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
      expect(later.headers.get('x-seen')).toBe('USER,false');
    },
  );

  it.each(['variables', 'nested variables'])('is refused when it changes %s in place', async (change) => {
    const query = 'query ($id: ID!) { book(id: $id) }';
    const { body } = await ask(query, change, { id: '1', list: [] });
    expect(body).toMatchObject({ errors: [{ extensions: { code: 'INTERNAL_ERROR' } }] });
    expect(federation.received.map(({ variables }) => variables)).not.toContainEqual({ id: '2' });
  });
});
