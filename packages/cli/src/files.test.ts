/** What the command reads: files, and standard input. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { readText } from './files.ts';

const COMMAND = fileURLToPath(new URL('../dist/main.js', import.meta.url));

describe('readText', () => {
  it('leaves out a byte order mark', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'trestle-files-'));
    try {
      const file = join(folder, 'operations.json');
      await writeFile(file, '\ufeff{"days": 1}');
      expect(await readText(file)).toBe('{"days": 1}');
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('refuses to read standard input twice: the second text would be empty', () => {
    const args = [COMMAND, 'subgraph', 'lint', 'one=-', 'two=-', '--json'];
    const { status, stdout } = spawnSync(process.execPath, args, { input: 'type Query { a: Int }', encoding: 'utf8' });
    expect([status, JSON.parse(stdout)]).toMatchObject([
      2,
      { error: { code: 'UNREADABLE_FILE', message: 'Cannot read -: standard input can be read once.' } },
    ]);
  });
});
