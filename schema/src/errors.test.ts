import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { ERRORS, Fault, fail, isErrorCode, rejectFaults } from './errors.ts';

it('has the codes, statuses and meanings of the table in docs/rest.md', () => {
  const page = readFileSync(new URL('../../docs/rest.md', import.meta.url), 'utf8');
  const rows = Array.from(page.matchAll(/^\| (\d{3})\s+\| `([A-Z_]+)`\s+\| (.*\S)\s+\|$/gm), ([, status, code, meaning]) => [
    code,
    { status: Number(status), meaning },
  ]);
  expect(Object.fromEntries(rows)).toEqual(ERRORS);
});

it('keeps what is for the client apart from what is for the log', () => {
  const fault = fail('CONFLICT', 'It is taken', { cause: new Error('duplicate key'), details: [{ field: 'email', message: 'is taken' }] });
  expect(fault).toBeInstanceOf(Fault);
  expect([fault.code, fault.message, fault.details?.length]).toEqual(['CONFLICT', 'It is taken', 1]);
});

it('tells all faults at once, and nothing when there are none', () => {
  expect(() => {
    rejectFaults([]);
  }).not.toThrow();
  expect(() => {
    rejectFaults([{ field: 'a', message: 'x' }]);
  }).toThrow('not valid');
});

it('knows its codes, and not the names that every object has', () => {
  expect([isErrorCode('GONE'), isErrorCode('toString'), isErrorCode(404)]).toEqual([true, false, false]);
});
