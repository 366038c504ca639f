/** The file of policies is replaced while the gateway serves, and the configuration names another one. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const { privateKeyPem, publicKeyPem } = generateTokenKeys();
const { token } = createTokenIssuer({ privateKeyPem }).issue({
  ...{ id: 'usr_1', role: 'USER', scopes: new Set(), tokenGeneration: 0, plan: 'free', requestsPerMinute: null, sessionId: 'ses_1' },
});

let home: string;
let federation: Federation;
/** Replaces a file by a rename, as deployments do. */
const replace = async (name: string, text: string) => {
  await writeFile(join(home, 'next'), text);
  await rename(join(home, 'next'), join(home, name));
};
const replacePolicies = (text: string) => replace('policies.json', text);
const nameFile = (name: string) => replace('trestle.yaml', `authorization: { policiesFile: ${name} }\n`);
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-policies-'));
  await writeFile(join(home, 'key.pem'), publicKeyPem);
  await nameFile('policies.json');
  await replacePolicies('{"keepers": [{"role": "ADMIN"}]}');
  const subgraphs = {
    places: { sdl: 'type Query { log: String @policy(policies: [["keepers"]]) }', resolvers: { Query: { log: () => 'open' } } },
  };
  const env = { TOKEN_PUBLIC_KEY_FILE: join(home, 'key.pem') };
  federation = await startFederation(subgraphs, { env, args: ['--auth', 'on', '--config', join(home, 'trestle.yaml')] });
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});

const readLog = async () => (await federation.ask('{ log }', {}, { authorization: `Bearer ${token}` })).body.data?.['log'];
const hasLogged = (message: string) => federation.gateway.lines.some((line) => line.includes(message));

it('applies changed policies without a restart, and without a change of the configuration file', async () => {
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

it('follows the file that a changed configuration names', async () => {
  await replace('others.json', '{"keepers": []}');
  await replacePolicies('{"keepers": [{}]}');
  await until(async () => (await readLog()) === 'open');
  await nameFile('others.json');
  await until(async () => (await readLog()) !== 'open');
  await replace('others.json', '{"keepers": [{}]}');
  await until(async () => (await readLog()) === 'open');
});
