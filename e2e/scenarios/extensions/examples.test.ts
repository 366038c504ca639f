/** The extensions in gateway/extensions, in one gateway. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { createTestGrant } from '@trestle/identity/tokens/test-identity';
import { createTokenIssuer, generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

const SOURCES = {
  books: {
    sdl: 'type Query { title: String } type Mutation { add(secret: String): Int }',
    resolvers: { Query: { title: () => 'Emma' }, Mutation: { add: () => 1 } },
  },
};
const KEY = 'a key of the test with 32 characters or more';
const example = (name: string) => new URL(`../../../gateway/extensions/${name}/index.mjs`, import.meta.url).href;
const MODULE = `
import { auditLog } from '${example('audit-log')}';
import { featureFlags } from '${example('feature-flags')}';
import { requestSigner } from '${example('request-signer')}';
export default () => [
  auditLog({ file: process.env.AUDIT_FILE }),
  requestSigner({ key: ${JSON.stringify(KEY)} }),
  featureFlags({ 'new-cart': 100, half: 50 }),
];
`;
const { isSigned, requestSigner } = (await import(example('request-signer'))) as {
  isSigned: (request: SignedRequest) => boolean;
  requestSigner: (options: { key?: string | undefined }) => object;
};

interface SignedRequest {
  readonly key: string;
  readonly body: string;
  readonly signature: string | undefined;
}

const { privateKeyPem, publicKeyPem } = generateTokenKeys();
let folder: string;
let federation: Federation;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-extension-examples-'));
  await writeFile(join(folder, 'extensions.mjs'), MODULE);
  await writeFile(join(folder, 'keys.pem'), publicKeyPem);
  federation = await startFederation(SOURCES, {
    args: ['--auth', 'on'],
    env: {
      EXTENSIONS_FILE: join(folder, 'extensions.mjs'),
      AUDIT_FILE: join(folder, 'audit.jsonl'),
      TOKEN_PUBLIC_KEY_FILE: join(folder, 'keys.pem'),
    },
  });
});
afterAll(async () => {
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Executes an operation as this account; anonymous without one. */
const ask = (query: string, id?: string) => {
  const headers =
    id === undefined ? undefined : { authorization: `Bearer ${createTokenIssuer({ privateKeyPem }).issue(createTestGrant({ id })).token}` };
  return federation.ask(query, undefined, headers);
};

it('audit-log writes who executed which operation, before the response, and no values of arguments', async () => {
  await ask('query Read { title }');
  await ask('mutation Write { add(secret: "pin-4711") }', 'usr_1');
  await ask('{ unknown }');
  const file = join(folder, 'audit.jsonl');
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { event: 'end', operationKind: 'query', operationName: 'Read', outcome: 'complete' },
    { event: 'begin', operationKind: 'mutation', operationName: 'Write', userId: 'usr_1' },
    { event: 'end', operationKind: 'mutation', operationName: 'Write', userId: 'usr_1', outcome: 'complete' },
    { event: 'end', outcome: 'refused' },
  ]);
  expect(lines.join()).not.toContain('4711');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

it('audit-log loses no line of requests at the same time', async () => {
  await Promise.all(Array.from({ length: 40 }, (_, i) => ask(`query Parallel${String(i)} { title }`)));
  const text = await readFile(join(folder, 'audit.jsonl'), 'utf8');
  for (let i = 0; i < 40; i++) expect(text.split(`"Parallel${String(i)}"`)).toHaveLength(2);
});

it.each([undefined, 'short'])('request-signer refuses the key %s', (key) => {
  expect(() => requestSigner({ key })).toThrow('the key of the request signer must have 32 characters or more');
});

it('request-signer signs the body of each fetch', async () => {
  federation.received.length = 0;
  await ask('{ title }');
  const [{ body, headers }] = federation.received as [Federation['received'][number]];
  const signature = String(headers['x-gateway-signature']);
  expect(isSigned({ key: KEY, body, signature })).toBe(true);
  const old = signature.replace(/t=\d+/, 't=1700000000');
  const wrong: readonly Partial<SignedRequest>[] = [
    { body: `${body} ` },
    { key: `${KEY}x` },
    { signature: old },
    { signature: '' },
    { signature: undefined },
  ];
  for (const change of wrong) expect(isSigned({ key: KEY, body, signature, ...change })).toBe(false);
});

it('feature-flags gives each caller the same features every time', async () => {
  const featuresOf = async (id?: string) => {
    federation.received.length = 0;
    const { headers } = await ask('{ title }', id);
    expect(federation.received[0]?.headers['x-features']).toBe(headers.get('x-features'));
    return headers.get('x-features');
  };
  expect(await featuresOf()).toBe('new-cart');
  expect(await featuresOf('usr_1')).toBe(await featuresOf('usr_1'));
  const seen = new Set<string | null>();
  for (let i = 0; seen.size < 2 && i < 40; i++) seen.add(await featuresOf(`usr_${String(i)}`));
  expect(seen).toEqual(new Set(['new-cart', 'new-cart, half']));
});
