import { describe, expect, it } from '@jest/globals';
import { Fault } from '@trestle/schema/errors';
import fc from 'fast-check';
import { limitJsonParts, parseStrictJson } from './strict-json.ts';

const parse = (text: string) => parseStrictJson(Buffer.from(text));

const INVALID = [
  ...[
    '',
    ' ',
    '{',
    '}',
    '[',
    ']',
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '{,}',
    '{a:1}',
    "{'a':1}",
    '{"a":1 "b":2}',
    '{"a":1}}',
    '[1]]',
    '{}{}',
    '[] x',
  ],
  ...['nul', 'True', 'undefined', 'NaN', 'Infinity', '-', '+1', '01', '1.', '.5', '1e', '1e+', '0x10', '1_000', '--1', '1.2.3', '-NaN'],
  ...[
    '"',
    '"a',
    'a"',
    '"\\x"',
    '"\\u12"',
    '"\\u12g4"',
    '"\t"',
    '"\n"',
    '"\\',
    "'a'",
    '"a" "b"',
    '/**/1',
    '1//',
    '#1',
    '\ufeff1',
    '\u00a01',
    '\f1',
    '[\u20281]',
  ],
  ...[
    '{"a":1,"a":2}',
    '{"a":{"b":1,"b":1}}',
    '[{"a":1,"\\u0061":2}]',
    '{"":1,"":2}',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '{"\\ud800":1}',
    '["\\ud83dx"]',
  ],
  ...['1e400', '-1e400', '9007199254740993', '-9007199254740993', '123456789012345678901234567890', '[[1e999]]'],
  ...['['.repeat(65) + ']'.repeat(65), '['.repeat(100_000), '{"a":'.repeat(70) + '1' + '}'.repeat(70), '[{'.repeat(50_000)],
];

const VALID = [
  '0',
  '-0',
  '1.5e3',
  '9007199254740991',
  '"\\ud83d\\ude00"',
  '"😀"',
  '"[[[[{{{{"',
  '{"a":1,"b":{"a":1}}',
  '[{"a":1},{"a":2}]',
  '"\\"a\\":"',
  ' \t\r\n[ ] ',
  'null',
  `${'['.repeat(64)}${']'.repeat(64)}`,
];

describe('parseStrictJson', () => {
  it.each(INVALID)('throws VALIDATION_ERROR for %j', (text) => {
    expect(() => parse(text)).toThrow(Fault);
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it.each([[[0xff]], [[0x22, 0xc3, 0x28, 0x22]], [[0x22, 0xed, 0xa0, 0x80, 0x22]], [[0x22, 0xc0, 0xaf, 0x22]], [[0xfe, 0xff, 0x00, 0x31]]])(
    'throws for the bytes %j, which are not UTF-8',
    (bytes) => {
      expect(() => parseStrictJson(Buffer.from(bytes))).toThrow(Fault);
    },
  );

  it.each(VALID)('returns the same value as JSON.parse for %s', (text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it('parses everything that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const text = JSON.stringify(value);
        // Integers beyond 2^53 are refused, although JSON.stringify writes doubles in that form.
        fc.pre(!/(?<![\d.eE"+-])-?\d{16,}(?![\d.eE])/.test(text) && text.isWellFormed() && !/\\u[dD][89a-fA-F]/.test(text));
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('returns __proto__ as an own property and does not set the prototype', () => {
    const value = parse('{"__proto__":{"isAdmin":true}}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  });
});

describe('limitJsonParts', () => {
  it.each([
    ['objects', '[{},{}]', 3],
    ['lists', '[[],[[]]]', 4],
    ['names', '{"a":1,"b":2}', 3],
  ])('counts %s', (_, text, parts) => {
    expect(() => {
      limitJsonParts(text, parts);
    }).not.toThrow();
    expect(() => {
      limitJsonParts(text, parts - 1);
    }).toThrow(`Request body has more than ${String(parts - 1)} objects, lists and names.`);
  });

  it('does not count what strings contain', () => {
    expect(() => {
      limitJsonParts('["[[{:","\\"[[:"]', 1);
    }).not.toThrow();
  });
});
