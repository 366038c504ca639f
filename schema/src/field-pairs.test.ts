import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { hasTooManyFieldPairs } from './field-pairs.ts';

const repeat = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');
const check = (source: string, maxPairs?: number) => hasTooManyFieldPairs(parse(source), maxPairs);

describe('hasTooManyFieldPairs (GraphQL §5.3.2)', () => {
  it('counts pairs of fields with one response name, also in fragments and in the selections that are merged', () => {
    const source = '{ a { b { c } } ...F x: a { b { c } } } fragment F on Query { ... { a { b { c } c: b { d } } } }';
    // The fields `a`, and their fields `b`.
    expect(check(source, 2)).toBe(false);
    expect(check(source, 1)).toBe(true);
  });

  it('counts pairs of fragments that are spread on one object, each fragment once', () => {
    const source = '{ ...A ...B ...C ...C } fragment A on Q { a } fragment B on Q { a } fragment C on Q { a ...A }';
    expect(check(source, 4)).toBe(false);
    // Those of the operation, and those within C.
    expect(check(source, 2)).toBe(true);
  });

  it('takes documents with many different fields, and with many fields that have no selections', () => {
    expect(check(`{ ${repeat(5000, (i) => `a${String(i)}: b { id }`)} }`)).toBe(false);
    expect(check(`{ ${repeat(5000, () => 'id')} }`)).toBe(false);
    expect(
      check(
        `{ user { ${repeat(90, (i) => `...F${String(i)}`)} } } ${repeat(90, (i) => `fragment F${String(i)} on User { posts { id } }`)}`,
      ),
    ).toBe(false);
  });

  it.each([
    ['a field is selected often', `{ ${repeat(300, () => 'a { b { c } }')} }`],
    [
      'many fragments are spread',
      `{ ${repeat(400, (i) => `...F${String(i)}`)} } ${repeat(400, (i) => `fragment F${String(i)} on Q { a }`)}`,
    ],
    ['a field selects itself by fragments', '{ a { ...F } a { ...F } } fragment F on Q { a { ...F } a { ...F } }'],
    [
      'fragments double in each level',
      `{ a { ...F0 } a { ...F0 } } ${repeat(40, (i) => `fragment F${String(i)} on Q { a { ...F${String(i + 1)} } a { ...F${String(i + 1)} } b { ...F${String(i + 1)} } b { ...F${String(i + 1)} } }`)} fragment F40 on Q { a { id } }`,
    ],
  ])('refuses a document in which %s', (_, source) => {
    expect(check(source)).toBe(true);
  });
});
