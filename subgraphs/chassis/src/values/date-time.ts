/** Parses and formats DateTime values (spec §2.1): ISO 8601, UTC, to the second. No I/O. */
import { GraphQLError } from 'graphql';

/** From the year 1 on: ISO 8601 has a year 0, PostgreSQL has none. */
const ISO_UTC = /^(?!0000)\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

/** Formats a date as clients see it, e.g. `2026-01-31T12:00:00Z` (spec §2.1). */
export function formatDateTime(date: Date): string {
  return `${date.toISOString().slice(0, 19)}Z`;
}

/**
 * Parses a DateTime value; fractions of a second are accepted and cut off.
 * Throws GraphQLError for any other value, which graphql-js reports at the place of the value.
 */
export function parseDateTime(value: unknown): Date {
  const date = typeof value === 'string' && ISO_UTC.test(value) ? new Date(value) : undefined;
  // A day that the calendar does not have rolls over, so the result must begin as the input does.
  if (!date || Number.isNaN(date.getTime()) || date.toISOString().slice(0, 19) !== String(value).slice(0, 19)) {
    throw new GraphQLError('DateTime must be a date and time in UTC, such as 2026-01-31T12:00:00Z.');
  }
  date.setUTCMilliseconds(0);
  return date;
}
