import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cut, mask } from './mask.ts';

/** Fragments of which the patterns of secrets consist. */
const PIECES = ['eyJ', 'a', '-', '.', '@', ':', '://', '/', ' ', '$argon2', '$', '\n', '"', '漢'];
const hostile = fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }).map((pieces) => pieces.join(''));

describe('mask', () => {
  it.each([
    [
      'tokens, e-mail addresses, passwords in URLs and password hashes',
      'eyJhbGciOi.eyJzdWIi.c2ln from ada@example.org by postgres://app:hunter2@db/x with $argon2id$v=19$m=1$abc',
      '[token] from [email] by postgres://app:[password]@db/x with [hash]',
    ],
    ['an API key', '/users?apiKey=trestle_live_0aZ&limit=1', '/users?apiKey=[key]&limit=1'],
    ['a token after a word', 'token-eyJhbGci.eyJzdWIi.c2ln', '[token]'],
    ['a token in quotes', '"eyJhbGci.eyJzdWIi.c2ln"', '"[token]"'],
    ['a password without a user', 'redis://:hunter2@cache:6379', 'redis://:[password]@cache:6379'],
  ])('hides %s (spec §5.10)', (_, text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  it('never returns a whole secret, whatever characters surround it (spec §5.10)', () => {
    fc.assert(
      fc.property(hostile, hostile, fc.constantFrom(' ', '"', '\n', '<'), (before, after, gap) => {
        const shown = mask(`${before}${gap}ada@example.org${gap}eyJhbGci.eyJzdWIi.c2ln${gap}${after}`);
        expect(shown).not.toMatch(/ada@example|eyJhbGci\.eyJzdWIi/);
      }),
    );
  });

  it('returns at most the given number of bytes', () => {
    fc.assert(
      fc.property(hostile, fc.integer({ min: 8, max: 200 }), (text, maxBytes) => {
        expect(Buffer.byteLength(mask(text.repeat(50), maxBytes))).toBeLessThanOrEqual(maxBytes);
      }),
    );
  });

  it.each(['eyJ', 'eyJ-', 'a', 'a.', '-eyJ.', '@a', 'a@', '@a.', 'a:', 'a://', 'a://a:', '$argon2', '$argon2a', '漢', ' ', '\n'])(
    'takes time linear in the length of a string that repeats %j',
    (piece) => {
      const time = (length: number) => {
        const text = piece.repeat(length / piece.length);
        let best = Infinity;
        for (let i = 0; i < 3; i++) {
          const began = performance.now();
          mask(text, length);
          best = Math.min(best, performance.now() - began);
        }
        return best;
      };
      time(10_000);
      // Quadratic, the longer text takes 256 times as long as the shorter one; the constant absorbs the clock and other processes.
      expect(time(320_000)).toBeLessThan(16 * 6 * time(20_000) + 50);
    },
  );

  it('does not return a part of a secret that extends beyond the cut', () => {
    const text = `${'x'.repeat(30)} ada.lovelace@example.org and more`;
    for (let maxBytes = 8; maxBytes < 40; maxBytes++) expect(mask(text, maxBytes)).not.toContain('ada');
    expect(mask('y'.repeat(100), 8)).toBe('…');
  });
});

describe('cut', () => {
  it('cuts a string to a number of bytes, and never within a character', () => {
    expect(cut('漢'.repeat(10), 12)).toBe('漢漢漢…');
    expect(cut('漢'.repeat(4), 12)).toBe('漢'.repeat(4));
    expect(cut('😀😀😀', 10)).toBe('😀…');
  });
});
