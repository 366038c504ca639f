import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { ERRORS, Fault, fail, isErrorCode, rejectFaults } from './errors.ts';

describe('ERRORS', () => {
  it('has the codes, statuses and meanings of the table in docs/rest.md', () => {
    const page = readFileSync(new URL('../../docs/rest.md', import.meta.url), 'utf8');
    const rows = Array.from(page.matchAll(/^\| (\d{3})\s+\| `([A-Z_]+)`\s+\| (.*\S)\s+\|$/gm), ([, status, code, meaning]) => [
      code,
      { status: Number(status), meaning },
    ]);
    expect(Object.fromEntries(rows)).toEqual(ERRORS);
  });
});

describe('fail', () => {
  it('returns a Fault with the code, message and details that it was given', () => {
    const details = [{ field: 'email', message: 'is in use' }];
    const fault = fail('CONFLICT', 'The e-mail address is in use', { cause: new Error('duplicate key'), details });
    expect(fault).toBeInstanceOf(Fault);
    expect(fault).toMatchObject({ code: 'CONFLICT', message: 'The e-mail address is in use', details });
  });
});

describe('rejectFaults', () => {
  it('throws one error for all faults, and does not throw for an empty list', () => {
    expect(() => {
      rejectFaults([]);
    }).not.toThrow();
    expect(() => {
      rejectFaults([{ field: 'a', message: 'x' }]);
    }).toThrow('not valid');
  });
});

describe('isErrorCode', () => {
  it('returns true for error codes only, not for property names that every object inherits', () => {
    expect([isErrorCode('GONE'), isErrorCode('toString'), isErrorCode(404)]).toEqual([true, false, false]);
  });
});
