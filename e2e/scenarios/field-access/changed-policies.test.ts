/** The file of policies is replaced while the gateway serves. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens';
import { until } from '../../stack/client.ts';
import { type Federation, startFederation } from '../../stack/federation.ts';

const { privateKeyPem, publicKeyPem } = generateTokenKeys();
const { token } = createTokenIssuer({ privateKeyPem }).issue({
  ...{ id: 'usr_1', role: 'USER', scopes: new Set(), tokenGeneration: 0, plan: 'free', requestsPerMinute: null, sessionId: 'ses_1' },
});

let home: string;
let federation: Federation;
/** Replaces the file by a rename, as deployments do. */
const replacePolicies = async (text: string) => {
  await writeFile(join(home, 'next.json'), text);
  await rename(join(home, 'next.json'), join(home, 'policies.json'));
};
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-policies-'));
  await writeFile(join(home, 'key.pem'), publicKeyPem);
  await replacePolicies('{"keepers": [{"role": "ADMIN"}]}');
  const subgraphs = {
    places: { sdl: 'type Query { log: String @policy(policies: [["keepers"]]) }', resolvers: { Query: { log: () => 'open' } } },
  };
  const env = { TOKEN_PUBLIC_KEY_FILE: join(home, 'key.pem'), POLICIES_FILE: join(home, 'policies.json') };
  federation = await startFederation(subgraphs, { env, args: ['--auth', 'on'] });
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const readLog = async () => (await federation.ask('{ log }', {}, { authorization: `Bearer ${token}` })).body.data?.['log'];
const hasLogged = (message: string) => federation.gateway.lines.some((line) => line.includes(message));

it('applies changed policies without a configuration file and without a restart', async () => {
  expect(await readLog()).toBeNull();
  await replacePolicies('{"keepers": [{}]}');
  await until(async () => (await readLog()) === 'open');
});

it('refuses and logs a file with a fault, and the last policies stay', async () => {
  await replacePolicies('{"keepers": {}}');
  await until(() => Promise.resolve(hasLogged('refused a changed configuration')));
  expect(await readLog()).toBe('open');
});

it('applies the next file without a fault', async () => {
  await replacePolicies('{"keepers": []}');
  await until(async () => (await readLog()) !== 'open');
});
