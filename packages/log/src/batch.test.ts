import { describe, expect, it } from '@jest/globals';
import { createBatch } from './batch.ts';

const failWith = (code: string) => {
  throw Object.assign(new Error(code), { code });
};

const DROPPED = 'log lines dropped while the output was blocked';

describe('createBatch', () => {
  it('writes lines together and in order, and at once when 32 KiB are buffered', () => {
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

  it('writes a line at once when it is urgent, and together with those of the next 20 ms when there are many', async () => {
    const written: string[] = [];
    await new Promise<void>((resolve) => {
      const batch = createBatch({
        write: (bytes) => {
          if (written.push(bytes.toString()) === 2) resolve();
          return bytes.length;
        },
      });
      for (const line of ['one\n', 'two\n', 'three\n']) {
        batch.write(line);
        batch.flushSoon();
      }
      expect(written).toEqual(['one\n']);
    });
    expect(written).toEqual(['one\n', 'two\nthree\n']);
  });

  it('discards lines without another attempt to write after the pipe was closed', () => {
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

  it('keeps whole lines while the pipe is full, and counts the lines beyond 4 MiB that it drops', () => {
    let capacity = 3;
    let read = '';
    const batch = createBatch({
      write: (bytes) => {
        if (capacity === 0) return failWith('EAGAIN');
        const accepted = Math.min(capacity, bytes.length);
        capacity -= accepted;
        read += bytes.subarray(0, accepted).toString();
        return accepted;
      },
    });
    batch.write('abcdef\n');
    batch.flush();
    expect(read).toBe('abc');
    const line = `${'x'.repeat(2 * 1024 * 1024)}\n`;
    for (let i = 0; i < 4; i++) batch.write(line);
    capacity = Infinity;
    batch.flush();
    expect(read.startsWith(`abcdef\n${line}`)).toBe(true);
    expect(JSON.parse(read.trimEnd().split('\n').at(-1) ?? '')).toMatchObject({ count: 2, msg: DROPPED });
    expect(read.length).toBeLessThan(5 * 1024 * 1024);
  });

  // spec §5.10: logging continues. A full disk is temporary, unlike a closed pipe.
  it.each(['ENOSPC', 'EDQUOT', 'EIO'])('writes again after %s has passed, and adds a line with the number of dropped lines', (code) => {
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
    expect(JSON.parse(lines.at(-2) ?? '')).toMatchObject({ count: 3, msg: DROPPED });
  });
});
