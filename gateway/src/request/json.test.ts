import { describe, expect, it } from '@jest/globals';
import { JsonTooDeep, MAX_JSON_DEPTH, parseJson } from './json.ts';

const lists = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const objects = (levels: number) => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);

describe('parseJson', () => {
  // RFC 8259 §9: "An implementation may set limits on the maximum depth of nesting."
  it.each([lists, objects])('accepts a value nested as deep as the limit, and throws JsonTooDeep for a deeper one', (nest) => {
    expect(parseJson(nest(MAX_JSON_DEPTH))).toEqual(JSON.parse(nest(MAX_JSON_DEPTH)));
    for (const levels of [MAX_JSON_DEPTH + 1, 6000, 500_000]) expect(() => parseJson(nest(levels))).toThrow(JsonTooDeep);
  });

  it('does not count brackets inside strings', () => {
    expect(parseJson(JSON.stringify({ query: '{'.repeat(10_000) }))).toEqual({ query: '{'.repeat(10_000) });
  });

  it.each(['', '{', '[1,]', 'undefined'])('throws SyntaxError for %j', (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });
});
