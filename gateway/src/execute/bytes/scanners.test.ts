import { describe, expect, it } from '@jest/globals';
import { SCANNERS } from './scanners.ts';

/** Returns how many bytes of a value a scanner accepts; a comma follows the value, as in a response. */
function scan(kind: keyof typeof SCANNERS, text: string): string | undefined {
  const bytes = Buffer.from(`,${text},1`);
  const end = SCANNERS[kind](bytes, kind === 'string' ? 2 : 1);
  return end === 0 ? undefined : bytes.toString('utf8', 1, end);
}

const accepts = (kind: keyof typeof SCANNERS, texts: readonly string[]) => {
  for (const text of texts) expect([text, scan(kind, text)]).toEqual([text, text]);
};
const refuses = (kind: keyof typeof SCANNERS, texts: readonly string[]) => {
  for (const text of texts) {
    const found = scan(kind, text);
    // What is left makes the walker refuse the response, because no comma or brace follows.
    expect([text, found === undefined || found.length < text.length]).toEqual([text, true]);
  }
};

describe('scanners of JSON values', () => {
  it('accept integers of 32 bits', () => {
    accepts('int', ['0', '7', '-1', '2147483647', '-2147483648']);
  });

  it('refuse integers that are larger, or written in another way', () => {
    refuses('int', ['2147483648', '-2147483649', '99999999999999999999', '01', '-0', '-01', '1.0', '1e3', '1E3', '-', '+1', '', 'true']);
  });

  it('accept finite numbers', () => {
    accepts('float', ['0', '-0', '1.5', '-12.25e-3', '1e99', '1E+10', '123456789012345678901234567890']);
  });

  it('refuse numbers that are not JSON, or perhaps not finite', () => {
    refuses('float', ['1.', '.5', '01', '1e', '1e+', '1e400', '-', 'NaN', 'Infinity', `1${'0'.repeat(300)}`]);
  });

  it('accept strings with every escape of JSON', () => {
    accepts('string', ['""', '"a"', '"\\"\\\\\\/\\b\\f\\n\\r\\t"', '"\\u00e9\\uD83d"', '"é\u2028😀"']);
  });

  it('refuse control characters, other escapes and strings without an end', () => {
    refuses('string', ['"\n"', '"\u0000"', '"\\x"', '"\\u00g0"', '"\\u12']);
  });

  it('accept every value without white space', () => {
    accepts('any', ['true', 'false', '1', '"x"', '[]', '{}', '[1,[2,{"a":null}]]', '{"a":{"b":[true]},"c":"d"}']);
  });

  it('refuse null, white space, deep nesting and what is not JSON', () => {
    refuses('any', ['null', '[ 1]', '{"a": 1}', '[1,]', '{"a"}', '{a:1}', 'tru', `${'['.repeat(70)}${']'.repeat(70)}`]);
  });
});
