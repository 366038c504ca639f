/** Files that were made to harm a parser: they fail, in bounded time and memory, and the process goes on. */
import { Readable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { readMediaInThread } from './media-thread.ts';

/** Returns a box of ISO 14496-12 that declares a size; by default its own. */
function toBox(type: string, content: Buffer, declared = content.length + 8): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(declared);
  head.write(type, 4, 'latin1');
  return Buffer.concat([head, content]);
}

const FTYP = toBox('ftyp', Buffer.from('isom\0\0\x02\0isomiso2mp41', 'latin1'));
const EBML = Buffer.from('1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701', 'hex');

/** Returns a box with a 64-bit size. */
function toLargeBox(type: string, size: bigint): Buffer {
  const head = Buffer.alloc(16);
  head.writeUInt32BE(1);
  head.write(type, 4, 'latin1');
  head.writeBigUInt64BE(size, 8);
  return head;
}

/** Returns containers in containers, each with its right size. */
function nest(type: string, depth: number): Buffer {
  const nested = Buffer.alloc(depth * 8);
  for (let i = 0; i < depth; i++) {
    nested.writeUInt32BE((depth - i) * 8, i * 8);
    nested.write(type, i * 8 + 4, 'latin1');
  }
  return nested;
}

/** A header of a movie whose time scale is 0. */
const NO_SCALE = toBox('moov', toBox('mvhd', Buffer.alloc(100)));

const HOSTILE: Readonly<Record<string, Buffer>> = {
  'nothing behind its type': FTYP,
  'a box that is cut off': Buffer.concat([FTYP, toBox('moov', Buffer.alloc(20), 4000)]),
  'a box whose size is smaller than its head': Buffer.concat([FTYP, toBox('moov', Buffer.alloc(200), 3)]),
  'a box of 4 GiB': Buffer.concat([FTYP, toBox('moov', Buffer.alloc(100), 0xffffffff)]),
  'a table of 4 GiB': Buffer.concat([FTYP, toBox('moov', toBox('trak', toBox('mdia', toBox('stsz', Buffer.alloc(64, 0xff)))))]),
  'a box of 2^63 bytes': Buffer.concat([FTYP, toLargeBox('moov', 2n ** 63n), Buffer.alloc(100)]),
  'a string of 4 GiB': Buffer.concat([
    FTYP,
    toBox('moov', toBox('udta', toBox('meta', toBox('ilst', toBox('data', Buffer.alloc(8), 0xfffffff0))))),
  ]),
  'no time scale': Buffer.concat([FTYP, NO_SCALE]),
  '100,000 boxes in each other': Buffer.concat([FTYP, nest('moov', 100_000)]),
  '300,000 tracks': Buffer.concat([
    FTYP,
    toBox('moov', Buffer.concat(Array.from({ length: 300_000 }, () => toBox('trak', Buffer.alloc(0))))),
  ]),
  'an element of 2^56 bytes': Buffer.concat([EBML, Buffer.from('1549a96601ffffffffffffff', 'hex'), Buffer.alloc(100)]),
  'elements of unknown size in each other': Buffer.concat([EBML, Buffer.alloc(400_000, Buffer.from('1549a966ff', 'hex'))]),
};

const openBytes = (bytes: Buffer) => ({
  open: (_: string, { start, end } = { start: 0, end: bytes.length - 1 }) =>
    Promise.resolve(Readable.from([bytes.subarray(start, end + 1)])),
});
const { signal } = new AbortController();
const FAILURE = { code: 'BUSINESS_RULE_VIOLATION', message: 'The content of the video cannot be read: it is damaged or has no duration.' };

describe('readMediaInThread', () => {
  it.each(Object.entries(HOSTILE))('refuses a file with %s', async (_, bytes) => {
    const before = process.memoryUsage().rss;
    const reading = readMediaInThread(openBytes(bytes), { key: 'x', size: bytes.length }, { signal, timeoutMs: 3000 });
    await expect(reading).rejects.toMatchObject(FAILURE);
    expect((process.memoryUsage().rss - before) / 1024 / 1024).toBeLessThan(400);
  });

  it('ends a file that takes too long, and lets other work go on meanwhile', async () => {
    let ticks = 0;
    const timer = setInterval(() => ticks++, 5);
    const endless = { open: () => Promise.resolve(new Readable({ read: () => undefined })) };
    await expect(readMediaInThread(endless, { key: 'x', size: 5000 }, { signal, timeoutMs: 400 })).rejects.toMatchObject(FAILURE);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(5);
  });

  it('rejects with the error of the store, which a later attempt may not meet', async () => {
    const failing = { open: () => Promise.reject(new Error('The store is gone')) };
    await expect(readMediaInThread(failing, { key: 'x', size: 5000 }, { signal })).rejects.toThrow('The store is gone');
  });

  it('rejects with the reason of its signal', async () => {
    const stop = new AbortController();
    const endless = { open: () => Promise.resolve(new Readable({ read: () => undefined })) };
    const reading = readMediaInThread(endless, { key: 'x', size: 5000 }, { signal: stop.signal });
    stop.abort(new Error('Cancelled'));
    await expect(reading).rejects.toThrow('Cancelled');
  });
});
