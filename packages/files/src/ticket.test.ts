import { describe, expect, it } from '@jest/globals';
import { isTicketValid, signTicket } from './ticket.ts';

const NOW = 1_700_000_000_000;
const PATH = '/files/videos/vid_1/abc';
const authorization = signTicket('key', PATH, NOW);

describe('isTicketValid', () => {
  it('accepts a ticket for its path and its minute', () => {
    expect(isTicketValid('key', PATH, { authorization, now: NOW + 59_000 })).toBe(true);
  });

  it.each([
    ['another path', 'key', '/files/videos/vid_2/abc', authorization, NOW],
    ['another key', 'other', PATH, authorization, NOW],
    ['a later time', 'key', PATH, authorization, NOW + 61_000],
    ['no ticket', 'key', PATH, undefined, NOW],
    ['another scheme', 'key', PATH, 'Bearer x', NOW],
    ['another expiry', 'key', PATH, authorization.replace(/\d+/, '9999999999999'), NOW],
  ])('refuses %s', (_, key, path, given, now) => {
    expect(isTicketValid(key, path, { authorization: given, now })).toBe(false);
  });
});
