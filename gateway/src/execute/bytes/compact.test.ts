import { describe, expect, it } from '@jest/globals';
import { compact } from './compact.ts';

function run(text: string): string | undefined {
  const bytes = Buffer.from(`#${text}\0`);
  const end = compact(bytes, 1, bytes.length - 1);
  if (end === 0) return undefined;
  expect(bytes[end]).toBe(0);
  return bytes.toString('utf8', 1, end);
}

describe('a compacted JSON text', () => {
  it.each([{ a: [1, -2.5e3, true, null], 'b "c" \\': { 'd  e': ' é \u2028 ' } }, [], [[], [{}], ''], ' a ', 12])(
    'is the text without white space between tokens: %j',
    (value) => {
      expect(run(JSON.stringify(value, null, 2))).toBe(JSON.stringify(value));
      expect(run(JSON.stringify(value, null, '\t').replaceAll('\n', '\r\n '))).toBe(JSON.stringify(value));
      expect(run(JSON.stringify(value))).toBe(JSON.stringify(value));
    },
  );

  it.each(['[1 2]', '[tr ue]', '[- 1]', '[1 .5]', '["a\n"]', '["a', '["a\\'])(
    'is refused where white space separates tokens: %s',
    (text) => {
      expect(run(text)).toBeUndefined();
    },
  );

  it('keeps other control characters, which no walker accepts', () => {
    expect(run('[1,\u000b2]')).toBe('[1,\u000b2]');
  });
});
