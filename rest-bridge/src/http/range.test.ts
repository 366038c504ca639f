import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseRanges, toContentRange, toMultipart } from './range.ts';

describe('parseRanges', () => {
  it.each([
    ['bytes=0-9', [{ start: 0, end: 9 }]],
    ['bytes=90-', [{ start: 90, end: 99 }]],
    ['bytes=-5', [{ start: 95, end: 99 }]],
    ['bytes=-500', [{ start: 0, end: 99 }]],
    ['bytes=50-5000', [{ start: 50, end: 99 }]],
    ['bytes=0-9999999999999999', [{ start: 0, end: 99 }]],
    ['bytes=-9999999999999999', [{ start: 0, end: 99 }]],
    ['BYTES=0-0', [{ start: 0, end: 0 }]],
    [
      'bytes=0-1, 4-5',
      [
        { start: 0, end: 1 },
        { start: 4, end: 5 },
      ],
    ],
    ['bytes=0-0, ,,', [{ start: 0, end: 0 }]],
    ['bytes=0-1,500-', [{ start: 0, end: 1 }]],
  ])('parses %s for 100 bytes', (header, ranges) => {
    expect(parseRanges(header, 100)).toEqual({ kind: 'ranges', ranges });
  });

  it.each(['bytes=100-', 'bytes=100-200', 'bytes=9999999999999999-', 'bytes=-0', 'bytes=200-,300-'])(
    'returns unsatisfiable for %s of 100 bytes',
    (header) => {
      expect(parseRanges(header, 100)).toEqual({ kind: 'unsatisfiable' });
    },
  );

  it.each([
    'lines=0-1',
    'bytes',
    'bytes=',
    'bytes=, ,',
    'bytes=a-b',
    'bytes=5-2',
    `bytes=0-${'9'.repeat(101)}`,
    'bytes=1',
    'bytes=0-1;2-3',
    'bytes=--1',
    `bytes=${'0-0,'.repeat(16)}0-0`,
    'bytes=0-,0-',
  ])('ignores %s', (header) => {
    expect(parseRanges(header, 100)).toEqual({ kind: 'whole' });
  });

  it('returns only ranges within the representation for any header', () => {
    const spec = fc
      .tuple(fc.option(fc.nat(200)), fc.option(fc.nat(200)))
      .map(([first, last]) => `${String(first ?? '')}-${String(last ?? '')}`);
    fc.assert(
      fc.property(fc.array(spec, { minLength: 1, maxLength: 5 }), fc.nat(150), (specs, size) => {
        const found = parseRanges(`bytes=${specs.join(',')}`, size);
        if (found.kind !== 'ranges') return;
        expect(found.ranges.length).toBeGreaterThan(0);
        for (const { start, end } of found.ranges) expect(start >= 0 && start <= end && end < size).toBe(true);
      }),
    );
    fc.assert(fc.property(fc.string(), fc.nat(), (text, size) => Boolean(parseRanges(text, size))));
  });
});

describe('toMultipart', () => {
  it('writes the type and the Content-Range of each part', () => {
    const { contentType, body } = toMultipart(
      Buffer.from('0123456789'),
      [
        { start: 0, end: 1 },
        { start: 8, end: 9 },
      ],
      'text/plain',
    );
    const boundary = contentType.split('boundary=')[1] ?? '';
    expect(body.toString()).toBe(
      `\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-1/10\r\n\r\n01\r\n--${boundary}\r\nContent-Type: text/plain\r\nContent-Range: bytes 8-9/10\r\n\r\n89\r\n--${boundary}--\r\n`,
    );
    expect(toContentRange({ start: 0, end: 1 }, 10)).toBe('bytes 0-1/10');
  });
});
