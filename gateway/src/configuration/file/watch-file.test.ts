import { writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type FileWatch, watchFile } from './watch-file.ts';

let folder: string;
let watching: FileWatch | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-watch-'));
});
afterEach(async () => {
  watching?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Watches the file, and returns a function that resolves with the next outcome. */
interface Watched extends Pick<Parameters<typeof watchFile>[1], 'initial' | 'retryAfterMs'> {
  readonly load?: (text: string) => Promise<void>;
}
function watchNext(file: string, { initial, load = () => Promise.resolve(), retryAfterMs = () => undefined }: Watched) {
  const outcomes: string[] = [];
  const waiting: ((outcome: string) => void)[] = [];
  const report = (outcome: string) => {
    const resolve = waiting.shift();
    if (resolve) resolve(outcome);
    else outcomes.push(outcome);
  };
  watching = watchFile(file, {
    initial,
    read: (path) => readFile(path, 'utf8'),
    load: async (text) => {
      await load(text);
      report(text);
    },
    refuse: (error) => {
      report(`refused: ${(error as Error).message}`);
    },
    retryAfterMs,
  });
  return () =>
    new Promise<string>((resolve) => {
      const known = outcomes.shift();
      if (known === undefined) waiting.push(resolve);
      else resolve(known);
    });
}

/** Replaces the file at once, so that no reader sees a part of the text. */
async function replaceFile(file: string, text: string): Promise<void> {
  await writeFile(`${file}.next`, text);
  await rename(`${file}.next`, file);
}

describe('watchFile', () => {
  it('loads what was written before the watch began', async () => {
    const file = join(folder, 'a');
    await writeFile(file, 'two');
    expect(await watchNext(file, { initial: 'one' })()).toBe('two');
  });

  it('loads the text of a file that is replaced by a rename', async () => {
    const file = join(folder, 'a');
    await writeFile(file, 'one');
    const next = watchNext(file, { initial: 'one' });
    await replaceFile(file, 'two');
    expect(await next()).toBe('two');
  });

  it('loads no empty text while a writer is between emptying the file and writing it', async () => {
    const file = join(folder, 'a');
    await writeFile(file, 'one');
    const next = watchNext(file, { initial: 'one' });
    // Without a turn of the event loop between them, however busy the machine is.
    writeFileSync(file, '');
    writeFileSync(file, 'two');
    expect(await next()).toBe('two');
  });

  it('loads the text of a file that Kubernetes mounts from a ConfigMap, which replaces a link beside it', async () => {
    for (const version of ['one', 'two']) {
      await mkdir(join(folder, `..${version}`));
      await writeFile(join(folder, `..${version}/a`), version);
    }
    await symlink('..one', join(folder, '..data'));
    await symlink('..data/a', join(folder, 'a'));
    const next = watchNext(join(folder, 'a'), { initial: 'one' });
    await symlink('..two', join(folder, '..new'));
    await rename(join(folder, '..new'), join(folder, '..data'));
    expect(await next()).toBe('two');
  });

  it('loads the text of a file in a folder that is a link, when the link is replaced', async () => {
    for (const version of ['one', 'two']) {
      await mkdir(join(folder, version));
      await writeFile(join(folder, version, 'a'), version);
    }
    await symlink('one', join(folder, 'current'));
    const next = watchNext(join(folder, 'current/a'), { initial: '' });
    expect(await next()).toBe('one');
    await symlink('two', join(folder, 'next'));
    await rename(join(folder, 'next'), join(folder, 'current'));
    expect(await next()).toBe('two');
  });

  it('loads the text of a file whose folder is deleted and created again', async () => {
    const file = join(folder, 'b/a');
    await mkdir(join(folder, 'b'));
    await writeFile(file, 'one');
    const next = watchNext(file, { initial: 'one' });
    await rm(join(folder, 'b'), { recursive: true });
    expect(await next()).toContain('ENOENT');
    await mkdir(join(folder, 'b'));
    await writeFile(file, 'two');
    expect(await next()).toBe('two');
  });

  it('begins while the folder of the file cannot be watched, and reports once that the file cannot be read', async () => {
    const file = join(folder, 'later/a');
    const next = watchNext(file, { initial: 'one' });
    expect(await next()).toContain('ENOENT');
    await mkdir(join(folder, 'later'));
    await writeFile(file, 'two');
    expect(await next()).toBe('two');
  });

  it('loads an unchanged file again after the delay for the failures in a row', async () => {
    const file = join(folder, 'a');
    await writeFile(file, 'one');
    const failures: number[] = [];
    const next = watchNext(file, {
      initial: 'one',
      load: () => (failures.length < 2 ? Promise.reject(new Error('busy')) : Promise.resolve()),
      retryAfterMs: (error, count) => {
        failures.push(count);
        return (error as Error).message === 'busy' ? 1 : undefined;
      },
    });
    await replaceFile(file, 'two');
    expect([await next(), await next(), await next(), failures]).toEqual(['refused: busy', 'refused: busy', 'two', [1, 2]]);
  });

  it('continues after content that cannot be loaded, and after the file was missing', async () => {
    const file = join(folder, 'a');
    await writeFile(file, 'one');
    const load = (text: string) => (text === 'bad' ? Promise.reject(new Error('bad')) : Promise.resolve());
    const next = watchNext(file, { initial: 'one', load });
    await replaceFile(file, 'bad');
    expect(await next()).toBe('refused: bad');
    await rm(file);
    expect(await next()).toContain('ENOENT');
    await replaceFile(file, 'good');
    expect(await next()).toBe('good');
  });
});
