import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parsePublicKeys, parseSigningKey } from '@trestle/identity/tokens/key-set';
import { generateTokenKeys } from '@trestle/identity/tokens/tokens';
import { type DataDirectory, openDataDirectory, writePrivateFile } from './data-directory.ts';
import { ensureTokenKeys } from './token-keys.ts';

let home: string;
/** What a test has opened. It is released also when an assertion fails; a second release does nothing. */
let opened: DataDirectory[] = [];
/** A process that owns a directory. */
let owner: ChildProcess | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-directory-'));
});
afterEach(async () => {
  owner?.kill('SIGKILL');
  await Promise.all(opened.map((directory) => directory.release()));
  opened = [];
  await rm(home, { recursive: true, force: true });
});

async function open(path: string): Promise<DataDirectory> {
  const directory = await openDataDirectory(path);
  opened.push(directory);
  return directory;
}

describe('openDataDirectory', () => {
  it('rejects a second supervisor until the first releases the directory', async () => {
    const first = await open(join(home, 'data'));
    await expect(open(join(home, 'data'))).rejects.toThrow(/Another instance of Trestle uses .*\. Stop it/);
    await first.release();
    const second = await open(join(home, 'data'));
    expect(second.wasAbandoned).toBe(false);
  });

  it('takes over the directory of a supervisor that was killed', async () => {
    const path = join(home, 'data');
    await (await open(path)).release();
    const script = `require('node:net').createServer().listen(process.argv[1], () => console.log('listens'))`;
    const child = spawn(process.execPath, ['-e', script, join(path, 'supervisor.sock')], { stdio: ['ignore', 'pipe', 'inherit'] });
    owner = child;
    await child.stdout.take(1).toArray();
    await expect(open(path)).rejects.toThrow('Another instance');
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;

    const taken = await open(path);
    expect(taken.wasAbandoned).toBe(true);
    await expect(open(path)).rejects.toThrow('Another instance');
    await taken.release();
    expect(await readdir(path)).toEqual(['keys', 'logs']);
  });

  it('removes the drafts that a killed supervisor left behind', async () => {
    const path = join(home, 'data');
    await mkdir(join(path, 'keys', 'tokens.draft'), { recursive: true });
    await writeFile(join(path, 'demo-credentials.json.4242.draft'), '{"acc');
    const directory = await open(path);
    expect(await readdir(path)).toEqual(['keys', 'logs', 'supervisor.sock']);
    expect(await readdir(directory.keys)).toEqual([]);
  });

  it('creates keys and logs that only the owner can read', async () => {
    const directory = await open(join(home, 'data'));
    await writePrivateFile(join(directory.path, 'secret'), 'text');
    const { privateKeyFile } = await ensureTokenKeys(directory.keys);
    for (const path of [directory.keys, directory.logs, join(directory.path, 'secret'), privateKeyFile])
      expect((await stat(path)).mode & 0o077).toBe(0);
  });
});

describe('ensureTokenKeys', () => {
  it('generates the keys once', async () => {
    const first = await ensureTokenKeys(home);
    const generated = await stat(first.privateKeyFile);
    expect(await ensureTokenKeys(home)).toEqual(first);
    expect((await stat(first.privateKeyFile)).ino).toBe(generated.ino);
    expect(await readdir(home)).toEqual(['tokens']);
  });

  it('converts the PEM files of an earlier version to key sets with the same key', async () => {
    const { privateKeyPem, publicKeyPem } = generateTokenKeys();
    await mkdir(join(home, 'tokens'));
    await writeFile(join(home, 'tokens', 'private.pem'), privateKeyPem);
    await writeFile(join(home, 'tokens', 'public.pem'), publicKeyPem);
    const { privateKeyFile, publicKeyFile } = await ensureTokenKeys(home);
    const { kid } = parseSigningKey(privateKeyPem);
    expect(parseSigningKey(await readFile(privateKeyFile, 'utf8')).kid).toBe(kid);
    expect(parsePublicKeys(await readFile(publicKeyFile, 'utf8'))).toMatchObject([{ kid }]);
    expect((await readdir(join(home, 'tokens'))).sort()).toEqual(['private.jwks.json', 'public.jwks.json']);
  });

  it('rejects keys that are empty or not a pair with a message that says how to recover', async () => {
    const { privateKeyFile } = await ensureTokenKeys(home);
    await writeFile(privateKeyFile, '');
    await expect(ensureTokenKeys(home)).rejects.toThrow(/tokens does not contain a pair of token keys .* move the folder/);
    const other = await ensureTokenKeys(join(home, 'other'));
    await writeFile(privateKeyFile, await readFile(other.privateKeyFile, 'utf8'));
    await expect(ensureTokenKeys(home)).rejects.toThrow('The public key does not match the private key');
  });
});
