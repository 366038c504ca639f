import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createParse } from './escaped-keys.ts';

// That of the engine is used where it is right; where it is not, the values below could not be compared without the repair.
const { parse: original } = JSON;
const parse: (json: string) => unknown = createParse(original);

const text = fc.string({ unit: fc.constantFrom('"', '\\', '\n', ':', 'a', '{', ' ', 'é', '😀'), maxLength: 4 });
const key = fc.oneof(text, fc.constantFrom('__proto__', '1', 'constructor'));
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.constant(null), fc.array(tie('value')), tie('object')),
  object: fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
}));
const escaped = (json: string) =>
  json.replace(/[^\0-\x7f]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

describe('JSON.parse, repaired', () => {
  it('returns the same value as the text says, whatever was parsed before', () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6 }), fc.boolean(), (values, isEscaped) => {
        for (const each of values) {
          const json = JSON.stringify(each);
          const sent = isEscaped && !json.includes('😀') ? escaped(json) : json;
          expect(JSON.stringify(parse(sent))).toBe(json);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('reads a key that ends in an escape after one that ends in a backslash', () => {
    parse('{"id":1,"\\\\":0}');
    expect(parse('{"id":1,"\\u540d":{"\\"":[{"\\n":2}]}}')).toEqual({ id: 1, 名: { '"': [{ '\n': 2 }] } });
  });

  it('reads the last of equal keys, and __proto__ as a key', () => {
    expect(parse('{"A":1,"\\u0041":2,"A":3}')).toEqual({ A: 3 });
    const own = parse('{"__proto__":{"\\n":1}}') as object;
    expect([Object.keys(own), Object.getPrototypeOf(own)]).toEqual([['__proto__'], Object.prototype]);
  });

  it.each(['{"\\n":', '{"\\n":1}}', '{"\\n":1,"\\', '{"a\\":1}', '{"\\n":"\n"}'])('refuses %j', (json) => {
    expect(() => parse(json)).toThrow(SyntaxError);
  });

  it('takes a time in proportion to the length, whatever is nested or quoted', () => {
    const deep = `${'{"\\n":'.repeat(100_000)}1${'}'.repeat(100_000)}`;
    expect(Object.keys(parse(deep) as object)).toEqual(['\n']);
    expect(() => parse(`{"\\n":1,"${'\\"'.repeat(1_000_000)}`)).toThrow(SyntaxError);
  });

  it.each([
    ['32 million characters', 'x'.repeat(32_000_000)],
    ['four million escapes', '\n"\\'.repeat(1_400_000)],
  ])('reads a string of %s beside a key that ends in an escape', (_, text) => {
    const json = JSON.stringify({ text, '\n': 1 });
    // Compared in one step: a difference of this size cannot be printed.
    expect(JSON.stringify(parse(json)) === json).toBe(true);
  });
});
