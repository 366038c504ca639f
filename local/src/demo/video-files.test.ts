import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openContentFiles, storeVideoFiles } from './video-files.ts';
import { SAMPLE, toFileKey } from './video-sample.ts';

it('stores the file that the rows of the demo videos describe', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'trestle-demo-files-'));
  const files = await openContentFiles({ inherited: {}, DATA_DIR });
  const key = toFileKey('vid_01jkg0tqg0xws8gt4k39x3ab7m');
  await storeVideoFiles(files, [{ fileKey: key }]);
  const bytes = await readFile(join(DATA_DIR, 'files/content', key));
  expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([SAMPLE.size, SAMPLE.sha256]);
  await rm(DATA_DIR, { recursive: true });
});
