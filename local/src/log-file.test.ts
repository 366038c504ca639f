import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LogFile, openLogFile } from './log-file.ts';

let directory: string;
let path: string;
let log: LogFile;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'trestle-log-'));
  path = join(directory, 'gateway.log');
});
afterEach(() => {
  log.close();
  rmSync(directory, { recursive: true });
});

const line = (n: number) => `${String(n).padStart(6, '0')} ${'x'.repeat(1000)}`;
const numbers = (file: string) =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((each) => Number(each.slice(0, 6)));

describe('openLogFile', () => {
  it('rotates the log file of a running process, keeps one previous file, and loses no line', () => {
    const maxBytes = 200_000;
    log = openLogFile(path, maxBytes);
    for (let n = 0; n < 2000; n++) log.write(line(n));
    log.close();
    expect(readdirSync(directory).sort()).toEqual(['gateway.log', 'gateway.log.1']);
    // What is written at once is not divided.
    for (const file of [path, `${path}.1`]) expect(statSync(file).size).toBeLessThan(maxBytes + 64 * 1024);
    const kept = [...numbers(`${path}.1`), ...numbers(path)];
    expect(kept).toEqual(kept.map((_, index) => 2000 - kept.length + index));
    expect(kept.length).toBeGreaterThan(200);
  });

  it('appends to the log file of the previous run', () => {
    for (const n of [1, 2]) {
      log = openLogFile(path);
      log.write(line(n));
      log.close();
    }
    expect(numbers(path)).toEqual([1, 2]);
    expect(readdirSync(directory)).toEqual(['gateway.log']);
  });
});
