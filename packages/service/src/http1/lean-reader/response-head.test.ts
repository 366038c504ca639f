import { describe, expect, it } from '@jest/globals';
import { array, assert, constantFrom, property, tuple } from 'fast-check';
import { mergeHeaders } from '../../messages/response-headers.ts';
import { writeHead } from './response-head.ts';

const NONE = { own: [], set: undefined, added: [], late: [], isKeptAlive: true, keepAliveTimeoutMs: 65_000 };
const lists = array(
  tuple(
    constantFrom('vary', 'x-a', 'x-b', 'retry-after', 'referrer-policy', 'content-length', 'connection', 'date'),
    constantFrom('1', 'b, c', ''),
  ),
  { maxLength: 5 },
).map((each) => each.flat());
const added = array(tuple(constantFrom('vary', 'x-c', 'retry-after', 'referrer-policy'), constantFrom('d', 'e')), { maxLength: 4 }).map(
  (each) => each.flat(),
);

describe('writeHead', () => {
  it('writes the fields that mergeHeaders returns, whatever is added and whatever takes its place', () => {
    assert(
      property(lists, added, added, (own, constant, late) => {
        const { text } = writeHead(200, { ...NONE, own, added: constant, late });
        const merged = mergeHeaders(own, [...constant, ...late]);
        const lines = Array.from({ length: merged.length / 2 }, (_, i) => `${String(merged[2 * i])}: ${String(merged[2 * i + 1])}\r\n`);
        expect(text.startsWith(`HTTP/1.1 200 OK\r\n${lines.join('')}`)).toBe(true);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['a line end in a value', ['x-a', 'b\r\nx-c: d']],
    ['a line end in a value beside `vary`', ['vary', 'a', 'x-a', 'b\n']],
    ['a character beyond Latin-1', ['x-a', '\u20ac']],
    ['a colon in a name', ['x:a', 'b']],
    ['an empty name', ['', 'b']],
  ])('throws for %s', (_, own) => {
    expect(() => writeHead(200, { ...NONE, own, added: ['x-b', 'c'] })).toThrow(TypeError);
  });

  it('ends the connection when a header says so, and names it once', () => {
    const { text, isKeptAlive } = writeHead(400, { ...NONE, own: ['Connection', 'close'] });
    expect([isKeptAlive, text.match(/connection/gi)]).toEqual([false, ['Connection']]);
  });
});
