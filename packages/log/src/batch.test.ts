import { describe, expect, it } from '@jest/globals';
import { createBatch } from './batch.ts';

const failWith = (code: string) => {
  throw Object.assign(new Error(code), { code });
};

describe('lines of the log', () => {
  it('are written together and in order', () => {
    const written: string[] = [];
    const batch = createBatch({ write: (bytes) => written.push(bytes.toString()) && bytes.length });
    batch.write('one\n');
    batch.write('two\n');
    expect(written).toEqual([]);
    batch.flush();
    expect(written).toEqual(['one\ntwo\n']);
    batch.write(`${'x'.repeat(40_000)}\n`);
    expect(written).toHaveLength(2);
  });

  it('go nowhere, and hold nobody up, once their reader is gone', () => {
    let calls = 0;
    const batch = createBatch({
      write: () => {
        calls++;
        return failWith('EPIPE');
      },
    });
    batch.write('one\n');
    batch.flush();
    batch.write('two\n');
    batch.flush();
    expect(calls).toBe(1);
  });

  it('wait for a reader that is full, whole, and those beyond 4 MiB are counted', () => {
    let room = 3;
    let read = '';
    const batch = createBatch({
      write: (bytes) => {
        if (room === 0) return failWith('EAGAIN');
        const taken = Math.min(room, bytes.length);
        room -= taken;
        read += bytes.subarray(0, taken).toString();
        return taken;
      },
    });
    batch.write('abcdef\n');
    batch.flush();
    expect(read).toBe('abc');
    const line = `${'x'.repeat(2 * 1024 * 1024)}\n`;
    for (let i = 0; i < 4; i++) batch.write(line);
    room = Infinity;
    batch.flush();
    expect(read.startsWith(`abcdef\n${line}`)).toBe(true);
    expect(JSON.parse(read.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
      count: 2,
      msg: 'log lines lost while the output took none',
    });
    expect(read.length).toBeLessThan(5 * 1024 * 1024);
  });

  // spec §5.10: the log goes on. A full disk is a state that passes, unlike a closed pipe.
  it.each(['ENOSPC', 'EDQUOT', 'EIO'])('are written again once %s has passed, and a line counts those that were lost', (code) => {
    let isFull = true;
    let read = '';
    const batch = createBatch({
      write: (bytes) => {
        if (isFull) return failWith(code);
        read += bytes.toString();
        return bytes.length;
      },
    });
    batch.write('before\n');
    batch.flush();
    const line = `${'x'.repeat(1024 * 1024)}\n`;
    for (let i = 0; i < 7; i++) {
      batch.write(line);
      batch.flush();
    }
    isFull = false;
    batch.flush();
    batch.write('after\n');
    batch.flush();
    const lines = read.trimEnd().split('\n');
    expect([lines[0], lines.at(-1)]).toEqual(['before', 'after']);
    expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({ count: 3, msg: 'log lines lost while the output took none' });
  });
});
