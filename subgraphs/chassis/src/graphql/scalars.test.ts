import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createIds, prefixOf } from '../values/ids.ts';
import { formatDateTime, readDateTime } from './scalars.ts';

it('writes moments in the shape of spec §2.1 and reads them back', () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
      const text = formatDateTime(date);
      expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(readDateTime(text).getTime()).toBe(Math.floor(date.getTime() / 1000) * 1000);
    }),
  );
});

it.each(['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00+01:00', '2026-13-01T00:00:00Z', 5, null, 'now'])(
  'refuses %p as a moment',
  (value) => {
    expect(() => readDateTime(value)).toThrow('DateTime must be');
  },
);

it('makes ids with their prefix that sort by time', () => {
  let now = 1_795_000_000_000;
  const createId = createIds({ now: () => now });
  const ids = Array.from({ length: 50 }, () => {
    now += 1;
    return createId('usr');
  });
  expect([...ids].sort()).toEqual(ids);
  expect(ids.every((id) => prefixOf(id) === 'usr')).toBe(true);
  expect(prefixOf('usr_nonsense')).toBeUndefined();
});
