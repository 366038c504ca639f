import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { ERRORS, Fault, fail, isErrorCode, rejectFaults } from './errors.ts';

it('has one status for each code, as README tells', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  const told = [...readme.matchAll(/^\| (\d{3})\s+\| `([A-Z_]+)`\s+\|/gm)].map(([, status, code]) => [code, Number(status)]);
  expect(Object.fromEntries(told)).toEqual(Object.fromEntries(Object.entries(ERRORS).map(([code, { status }]) => [code, status])));
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
