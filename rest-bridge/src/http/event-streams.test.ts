import { describe, expect, it } from '@jest/globals';
import { createEventStreams } from './event-streams.ts';

describe('createEventStreams', () => {
  it('refuses the eleventh stream of a caller with what is left of the limit, and opens it after one has ended', () => {
    const streams = createEventStreams();
    const [first] = Array.from({ length: 10 }, () => streams.open('usr_1'));
    const rateLimit = { limit: 10, remaining: 0, resetAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) };
    expect(() => streams.open('usr_1')).toThrow(expect.objectContaining({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: 1, rateLimit }));
    expect(() => streams.open('usr_2')).not.toThrow();
    first?.close();
    expect(() => streams.open('usr_1')).not.toThrow();
  });
});
