/** The package of the typed client, packed and installed in an empty folder without the network, against the running system. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../', import.meta.url));
/** What the package depends on, in the checkout: the test needs no registry. */
const DEPENDENCIES = ['openapi-fetch', 'openapi-typescript-helpers'].map((name) => join(root, 'node_modules', name));

const PROGRAM = `
import { createTrestleClient, createTrestleClientV2 } from '@trestle/client';

const api = createTrestleClient({ baseUrl: process.argv[2] });
const created = await api.POST('/users', { body: { email: 'packed@example.org', name: 'Packed', password: 'packed-Passw0rd' } });
const { data } = await createTrestleClientV2({ baseUrl: process.argv[2] }).GET('/users/{id}', { params: { path: { id: created.data.id } } });
const { error } = await api.GET('/orders');
console.log(JSON.stringify({ status: created.response.status, name: data.name, code: error.error.code }));
`;

const TYPED_PROGRAM = `
import { type ClientOptions, createTrestleClient } from '@trestle/client';

const options: ClientOptions = { baseUrl: 'http://localhost', token: undefined };
const { data } = await createTrestleClient(options).GET('/users/{id}', { params: { path: { id: 'usr_1' } } });
export const name: string | undefined = data?.name;
// @ts-expect-error: the field does not exist
export const colour = data?.colour;
// @ts-expect-error: the path does not exist
await createTrestleClient(options).GET('/nothing');
`;

let stack: LeasedStack;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-client-'));
  [stack] = await Promise.all([leaseStack(), install()]);
}, 120_000);

/** Packs the client and installs the tarball in the folder. */
async function install(): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', pack, { cwd: join(root, 'packages/client') });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const options = ['--offline', '--install-links', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...options, `./${filename}`, ...DEPENDENCIES], { cwd: folder });
}

afterAll(async () => {
  await stack.stop();
  await rm(folder, { recursive: true, force: true });
});

describe('the package @trestle/client, installed from its tarball', () => {
  it('calls both versions of the API', async () => {
    await writeFile(join(folder, 'program.mjs'), PROGRAM);
    const { stdout } = await run(process.execPath, ['program.mjs', stack.rest], { cwd: folder });
    expect(JSON.parse(stdout)).toEqual({ status: 201, name: 'Packed', code: 'UNAUTHORIZED' });
  });

  it.each(['nodenext', 'preserve'])('has types that TypeScript resolves with module %s', async (module) => {
    await writeFile(join(folder, 'program.ts'), TYPED_PROGRAM);
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--lib', 'es2023,dom', '--module', module];
    const checked = await run(process.execPath, [tsc, ...options, 'program.ts'], { cwd: folder }).catch((error: unknown) => error);
    expect(checked).toMatchObject({ stdout: '' });
    expect(checked).not.toBeInstanceOf(Error);
  });
});
