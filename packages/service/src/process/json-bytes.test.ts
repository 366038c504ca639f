import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hasLongList, toJson, writeJson } from './json-bytes.ts';

describe('JSON texts as bytes', () => {
  it('are those of JSON.stringify for each JSON value, with lone surrogates and absent values', () => {
    const leaf = fc.oneof(fc.constant(undefined), fc.string({ unit: 'binary' }), fc.date({ noInvalidDate: true }), fc.double());
    const value = fc.object({ values: [leaf], maxDepth: 4, withNullPrototype: true });
    fc.assert(
      fc.property(value, (each) => {
        const { bytes, release } = writeJson(each);
        const text = bytes.toString();
        release();
        expect(text).toBe(JSON.stringify(each));
      }),
    );
  });

  it.each(['x', 'é', '漢', '😀', '\u0000', '"'])('are whole when they exceed the buffer several times with %j', (character) => {
    const value = { data: { list: Array.from({ length: 300 }, (_, index) => ({ index, text: character.repeat(4000) })), last: null } };
    const { bytes } = writeJson(value);
    expect(bytes.equals(Buffer.from(JSON.stringify(value)))).toBe(true);
  });

  it('are lent: one that is given back is written again', () => {
    const first = writeJson({ a: 1 });
    first.release();
    const second = writeJson({ b: 2 });
    expect(second.bytes.buffer).toBe(first.bytes.buffer);
    const third = writeJson({ c: 3 });
    expect([second, third].map(({ bytes }) => bytes.toString())).toEqual(['{"b":2}', '{"c":3}']);
  });
});

describe('hasLongList', () => {
  const long = Array.from({ length: 20 }, () => 1);

  it.each([
    [{ data: { connection: { edges: long } } }, true],
    [{ data: { a: 1, _entities: long } }, true],
    [{ data: { a: null, list: long.slice(1) } }, false],
    [{ data: { list: [{ inner: long }] } }, false],
    [{ data: null }, false],
  ])('%j: %s', (value, expected) => {
    expect(hasLongList(value)).toBe(expected);
  });
});

describe('toJson', () => {
  it('returns a string for a small value, and bytes of its own for a large one', () => {
    const small = { data: [1, 2, 3] };
    const large = { data: Array.from({ length: 100 }, (_, index) => index) };
    const bytes = toJson(large) as Buffer;
    writeJson({ overwritten: large });
    expect([toJson(small), bytes.toString()]).toEqual([JSON.stringify(small), JSON.stringify(large)]);
  });
});
