import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatDateTime, parseDateTime } from './date-time.ts';

describe('DateTime', () => {
  it('formats a date in the form of spec §2.1 and parses it back', () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }), (date) => {
        const formatted = formatDateTime(date);
        expect(formatted).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
        expect(parseDateTime(formatted).getTime()).toBe(Math.floor(date.getTime() / 1000) * 1000);
      }),
    );
  });

  it.each(['2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00+01:00', '2026-13-01T00:00:00Z', 5, null, 'now'])(
    'refuses %p',
    (value) => {
      expect(() => parseDateTime(value)).toThrow('DateTime must be');
    },
  );
});
