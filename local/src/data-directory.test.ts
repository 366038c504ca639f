import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDataDirectory, writePrivateFile } from './data-directory.ts';
import { ensureTokenKeys } from './token-keys.ts';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-directory-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('openDataDirectory', () => {
  it('rejects a second supervisor until the first releases the directory', async () => {
    const first = await openDataDirectory(join(home, 'data'));
    await expect(openDataDirectory(join(home, 'data'))).rejects.toThrow(/Another instance of Trestle uses .*\. Stop it/);
    await first.release();
    const second = await openDataDirectory(join(home, 'data'));
    expect(second.wasAbandoned).toBe(false);
    await second.release();
  });

  it('takes over the directory of a supervisor that was killed', async () => {
    const path = join(home, 'data');
    await (await openDataDirectory(path)).release();
    const script = `require('node:net').createServer().listen(process.argv[1], () => console.log('listens'))`;
    const owner = spawn(process.execPath, ['-e', script, join(path, 'supervisor.sock')], { stdio: ['ignore', 'pipe', 'inherit'] });
    await owner.stdout.take(1).toArray();
    await expect(openDataDirectory(path)).rejects.toThrow('Another instance');
    const ended = new Promise((resolve) => owner.once('exit', resolve));
    owner.kill('SIGKILL');
    await ended;

    const taken = await openDataDirectory(path);
    expect(taken.wasAbandoned).toBe(true);
    await expect(openDataDirectory(path)).rejects.toThrow('Another instance');
    await taken.release();
    expect(await readdir(path)).toEqual(['keys', 'logs']);
  });

  it('removes the drafts that a killed supervisor left behind', async () => {
    const path = join(home, 'data');
    await mkdir(join(path, 'keys', 'tokens.draft'), { recursive: true });
    await writeFile(join(path, 'demo-credentials.json.4242.draft'), '{"acc');
    const directory = await openDataDirectory(path);
    expect(await readdir(path)).toEqual(['keys', 'logs', 'supervisor.sock']);
    expect(await readdir(directory.keys)).toEqual([]);
    await directory.release();
  });

  it('creates keys and logs that only the owner can read', async () => {
    const directory = await openDataDirectory(join(home, 'data'));
    await writePrivateFile(join(directory.path, 'secret'), 'text');
    const { privateKeyFile } = await ensureTokenKeys(directory.keys);
    for (const path of [directory.keys, directory.logs, join(directory.path, 'secret'), privateKeyFile])
      expect((await stat(path)).mode & 0o077).toBe(0);
    await directory.release();
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

  it('rejects keys that are empty or not a pair with a message that says how to recover', async () => {
    const { privateKeyFile } = await ensureTokenKeys(home);
    await writeFile(privateKeyFile, '');
    await expect(ensureTokenKeys(home)).rejects.toThrow(/tokens does not contain a pair of token keys .* move the folder/);
    const other = await ensureTokenKeys(join(home, 'other'));
    await writeFile(privateKeyFile, await readFile(other.privateKeyFile, 'utf8'));
    await expect(ensureTokenKeys(home)).rejects.toThrow('The public key does not match the private key');
  });
});
