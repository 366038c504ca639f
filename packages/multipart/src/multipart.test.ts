import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isMultipart, readBoundary } from './boundary.ts';
import { type Operations, parseMap, parseOperations, placeFiles } from './place-files.ts';
import { FirstParts } from './first-parts.ts';
import { readHead } from './read-head.ts';
import { toEnd, toFileStart, toHead } from './write-request.ts';

const faulty = expect.objectContaining({ code: 'VALIDATION_ERROR' });

/** Splits bytes at arbitrary places. */
const cut = (bytes: Buffer, at: readonly number[]) => {
  const places = [0, ...at.map((each) => each % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
};

const BOUNDARY = fc.stringMatching(/^[\w'()+,./:=?-]{1,70}$/);

describe('readBoundary', () => {
  it.each([
    ['multipart/form-data; boundary=x', 'x'],
    ['Multipart/Form-Data;charset=utf-8;boundary="a b"', 'a b'],
    ['multipart/form-data; x="; boundary=a"; boundary=b', 'b'],
    ['multipart/form-data; boundary=a b', undefined],
    ['multipart/form-data', undefined],
    ['multipart/form-data; boundary=', undefined],
    ['multipart/form-data; boundary="a\\"', undefined],
    [`multipart/form-data; boundary=${'x'.repeat(71)}`, undefined],
  ])('reads %j as %j', (type, expected) => {
    expect(isMultipart(type)).toBe(true);
    expect(readBoundary(type)).toBe(expected);
  });

  it.each(['application/json', 'multipart/mixed; boundary=x', 'multipart/form-dataX; boundary=x', undefined])('leaves out %j', (type) => {
    expect(isMultipart(type)).toBe(false);
  });
});

describe('readHead', () => {
  it('returns both parts and leaves every byte behind them, however the request is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({ boundary: BOUNDARY, operations: fc.json(), map: fc.json() }),
        fc.uint8Array({ maxLength: 200 }),
        fc.array(fc.nat(), { maxLength: 8 }),
        async ({ boundary, operations, map }, file, at) => {
          const rest = Buffer.concat([Buffer.from(toFileStart('0', 'video/mp4')), file, Buffer.from(toEnd(boundary))]);
          const request = Buffer.concat([Buffer.from(toHead(boundary, { operations, map })), rest]);
          const source = Readable.from(cut(request, at), { objectMode: false });
          expect(await readHead(source, boundary)).toEqual({ operations, map });
          expect((await buffer(source)).equals(rest)).toBe(true);
        },
      ),
    );
  });

  // contract §6: the time that a client can cause has a limit, as the bytes have.
  it('needs no more time for each small piece behind a large part than behind a small one', async () => {
    const measure = async (size: number) => {
      const head = toHead('x', { operations: JSON.stringify('y'.repeat(size)), map: '{}' });
      const pieces = [Buffer.from(head.slice(0, -8000)), ...Array.from(head.slice(-8000), (byte) => Buffer.from(byte))];
      const before = process.cpuUsage();
      expect((await readHead(Readable.from(pieces, { objectMode: false }), 'x')).map).toBe('{}');
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    // Other work of the process, such as garbage collection, only adds to a run.
    const measureLeast = async (size: number) => {
      const runs: number[] = [];
      while (runs.length < 5) runs.push(await measure(size));
      return Math.min(...runs);
    };
    const behindSmall = await measureLeast(8 * 1024);
    // Reading all bytes again for each piece takes eight times as long.
    expect((await measureLeast(1024 * 1024)) / behindSmall).toBeLessThan(4);
  });

  it('accepts a line break before the first delimiter, also in a piece of its own', async () => {
    const head = `\r\n${toHead('x', { operations: '{}', map: '{}' })}`;
    const pieces = Array.from(head, (byte) => Buffer.from(byte));
    expect(await readHead(Readable.from(pieces, { objectMode: false }), 'x')).toEqual({ operations: '{}', map: '{}' });
  });

  it('leaves the bytes behind when the whole request arrives in one step of the event loop, with its end', async () => {
    const rest = `\r\n${toFileStart('0', 'video/mp4').slice(2)}content${toEnd('x')}`;
    const source = new Readable({ read: () => undefined });
    const head = readHead(source, 'x');
    process.nextTick(() => {
      source.push(toHead('x', { operations: '{}', map: '{}' }) + rest);
      source.push(null);
    });
    expect(await head).toEqual({ operations: '{}', map: '{}' });
    expect((await buffer(source)).toString()).toBe(rest);
  });

  it('refuses any other bytes with a coded error', () => {
    fc.assert(
      fc.property(BOUNDARY, fc.uint8Array({ maxLength: 300 }), fc.boolean(), (boundary, bytes, isBegun) => {
        const all = isBegun ? Buffer.concat([Buffer.from(`--${boundary}\r\n`), bytes]) : Buffer.from(bytes);
        try {
          new FirstParts(boundary, ['operations', 'map']).add(all);
        } catch (error) {
          expect(error).toEqual(faulty);
        }
      }),
    );
  });

  it.each([
    ['the parts are in another order', toHead('b', { operations: '{}', map: '{}' }).replaceAll('operations', 'files')],
    ['it ends early', toHead('b', { operations: '{}', map: '{}' }).slice(0, -3)],
    ['it begins with another boundary', toHead('other', { operations: '{}', map: '{}' })],
    ['a part has endless headers', `--b\r\n${'x: y\r\n'.repeat(1000)}`],
  ])('rejects with VALIDATION_ERROR when %s', async (_, text) => {
    await expect(readHead(Readable.from([Buffer.from(text)]), 'b')).rejects.toEqual(faulty);
  });

  it('rejects with VALIDATION_ERROR for operations that are not UTF-8', async () => {
    const [before, after] = toHead('b', { operations: '{"query":"|"}', map: '{}' }).split('|') as [string, string];
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xc3]), Buffer.from(after)]);
    await expect(readHead(Readable.from([bytes]), 'b')).rejects.toEqual(faulty);
  });

  it('rejects with PAYLOAD_TOO_LARGE when the operations never end', async () => {
    const endless = [toHead('b', { operations: '{', map: '' }).split('\r\n--b')[0] ?? '', ...Array<string>(20).fill('x'.repeat(65_536))];
    await expect(readHead(Readable.from(endless.map((each) => Buffer.from(each))), 'b')).rejects.toMatchObject({
      code: 'PAYLOAD_TOO_LARGE',
    });
  });

  it('rejects when the client disconnects', async () => {
    const source = new Readable({ read: () => undefined });
    const reading = readHead(source, 'b');
    source.destroy();
    await expect(reading).rejects.toThrow('disconnected');
  });
});

describe('placeFiles', () => {
  const put = (operations: Operations, map: object) => {
    placeFiles(operations, parseMap(JSON.stringify(map)), (name) => ({ name }));
    return operations;
  };

  it('puts each file at all its paths', () => {
    const placed = put(
      { variables: { a: null, b: { c: [null, null] } } },
      { 0: ['variables.a', 'variables.b.c.1'], 1: ['variables.b.c.0'] },
    );
    expect(placed).toEqual({ variables: { a: { name: '0' }, b: { c: [{ name: '1' }, { name: '0' }] } } });
  });

  it.each(['query', 'variables', 'variables.x', 'variables.a.b', 'variables.__proto__', 'variables.list.length', '', 'variables.text'])(
    'refuses the path %j',
    (path) => {
      expect(() => put({ query: null, variables: { a: null, list: [], text: 'x' } }, { 0: [path] })).toThrow(faulty);
    },
  );

  it.each([
    [[]],
    ['x'],
    [{ 0: 'variables.a' }],
    [{ 0: [1] }],
    [Object.fromEntries(Array.from({ length: 11 }, (__, i) => [`f${String(i)}`, []]))],
  ])('refuses the map %j', (map) => {
    expect(() => parseMap(JSON.stringify(map))).toThrow(faulty);
  });

  it.each(['', '[]', '[{}]', 'null', '1', '{'])('refuses the operations %j', (text) => {
    expect(() => parseOperations(text)).toThrow(faulty);
  });
});
