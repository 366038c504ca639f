import { chmod, mkdir, mkdtemp, open as openFile, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { createLastGood } from './last-good.ts';

const SDL = '"""→ ü"""\ntype Query { a: Int }\n';
const PLACE = 'https://cdn.example.com/supergraph';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-last-good-'));
  file = join(folder, 'kept.graphql');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const open = (place = PLACE, maxBytes = 10_000) => createLastGood({ file, place, maxBytes });

describe('the copy of a supergraph on disk', () => {
  it('holds the last supergraph that was written, as SDL that only its owner may read', async () => {
    await open().write('type Query { old: Int }');
    await open().write(SDL);
    expect(await open().read()).toBe(SDL);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(parse(await readFile(file, 'utf8')).definitions).toHaveLength(1);
  });

  it('leaves no other file behind, also when it cannot be written', async () => {
    await open().write(SDL);
    expect(await readdir(folder)).toEqual(['kept.graphql']);
    await rm(file);
    await mkdir(join(file, 'occupied'), { recursive: true });
    await expect(open().write(SDL)).rejects.toThrow();
    expect(await readdir(folder)).toEqual(['kept.graphql']);
  });

  it.each<[string, (text: string) => string]>([
    ['was changed', (text) => text.replace('a: Int', 'b: Int')],
    ['was cut off', (text) => text.slice(0, -10)],
    ['has another hash', (text) => text.replace(/sha256 ./, (start) => (start.endsWith('0') ? 'sha256 1' : 'sha256 0'))],
    ['has no hash', (text) => text.slice(text.indexOf('\n') + 1)],
    ['is empty', () => ''],
  ])('is refused when it %s', async (_, damage) => {
    await open().write(SDL);
    await writeFile(file, damage(await readFile(file, 'utf8')));
    await expect(open().read()).rejects.toThrow('is damaged, or was kept from another source');
  });

  it('is refused when it is of another source', async () => {
    await open('https://staging.example.com/supergraph').write(SDL);
    await expect(open().read()).rejects.toThrow('was kept from another source');
  });

  it('is refused when it is larger than the limit', async () => {
    await open().write(SDL.repeat(100));
    await expect(open(PLACE, 100).read()).rejects.toThrow('exceeds the limit');
  });

  it('is reported when it does not exist, and when it is a folder', async () => {
    await expect(open().read()).rejects.toThrow('kept.graphql does not exist');
    await mkdir(file);
    await expect(open().read()).rejects.toThrow('is not a file');
  });

  it('is replaced as a whole: a reader that has begun gets the old one to its end', async () => {
    await open().write(SDL);
    const old = await openFile(file, 'r');
    await open().write('type Query { newer: Int }');
    expect(await old.readFile('utf8')).toContain(SDL);
    await old.close();
  });

  it('is reported without its content when it cannot be read', async () => {
    await open().write(SDL);
    await chmod(file, 0o000);
    // The superuser may read everything.
    if (process.getuid?.() === 0) expect(await open().read()).toBe(SDL);
    else await expect(open().read()).rejects.toThrow('cannot be read (EACCES)');
  });
});
