// cspell:disable — passwords in many languages, and common ones
import { describe, expect, it } from '@jest/globals';
import { findPasswordFaults } from './password-rules.ts';

const messageOf = (password: string, email = 'marguerite@example.org') =>
  findPasswordFaults({ field: 'password', password, email })[0]?.message;

describe('a new password', () => {
  it.each([
    'correct horse 9 battery',
    'ada-Passw0rd!',
    'Ada-passes-1',
    'пароль из слов',
    '🐎🔋 staple battery',
    'x'.repeat(11) + 'q7-k'.repeat(29),
  ])('may be %j', (password) => {
    expect(messageOf(password)).toBeUndefined();
  });

  it.each([
    ['seven c', 'must have 8 to 128 characters'],
    ['', 'must have 8 to 128 characters'],
    ['x1-'.repeat(43), 'must have 8 to 128 characters'],
  ])('must have 8 to 128 characters: %j', (password, message) => {
    expect(messageOf(password)).toMatch(message.slice(0, 9));
  });

  it.each(['12345678', 'password', 'PASSWORD', 'iloveyou', 'Qwertyuiop', 'passw0rd'])('must not be common, in any case: %j', (password) => {
    expect(messageOf(password)).toBe('is one of the most common passwords, which are guessed first');
  });

  it.each(['marguerite@example.org', 'MARGUERITE@example.ORG-2026', 'Marguerite', 'my marguerite@example.org'])(
    'must not be the own e-mail address: %j',
    (password) => {
      expect(messageOf(password)).toBe('must not be the e-mail address of the account');
    },
  );
});
