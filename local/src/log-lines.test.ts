import { describe, expect, it } from '@jest/globals';
import { toTerminalLine } from './log-lines.ts';

describe('toTerminalLine', () => {
  it('formats an error as one readable line', () => {
    const line = {
      level: 'error',
      time: '2026-01-31T12:34:56.789Z',
      msg: 'the request\n failed',
      code: 'INTERNAL_ERROR',
      requestId: 'r-1',
      error: { type: 'Error', message: 'no such column' },
    };
    expect(toTerminalLine('users', JSON.stringify(line))).toBe(
      '12:34:56 users error: the request failed; INTERNAL_ERROR; no such column; request r-1',
    );
  });

  it.each([['{"level":"info","msg":"listening"}'], ['(node:1) Warning: old'], ['"text"'], ['null'], ['']])(
    'returns undefined for the line %j',
    (line) => {
      expect(toTerminalLine('users', line)).toBeUndefined();
    },
  );
});
