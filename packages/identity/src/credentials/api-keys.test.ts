import { crc32 } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { API_KEY_PATTERN, createApiKey, hashApiKey, isApiKey, lastFourOf, parseApiKeySecret } from './api-keys.ts';

describe('createApiKey', () => {
  it('creates keys that differ, match the pattern for secret scanners, and are recognised', () => {
    const keys = Array.from({ length: 1000 }, createApiKey);
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) {
      expect(key).toHaveLength(51);
      expect(API_KEY_PATTERN.exec(`const key = "${key}";`)?.[0]).toBe(key);
      expect(isApiKey(key)).toBe(true);
    }
  });

  it('uses every character of base 62 equally often', () => {
    const counts = new Map<string, number>();
    for (let i = 0; i < 2000; i++)
      for (const character of createApiKey().slice('trestle_live_'.length, -6)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).toBe(62);
    // 64,000 characters: about 1,032 of each; six standard deviations are 192.
    for (const count of counts.values()) expect(Math.abs(count - 64_000 / 62)).toBeLessThan(200);
  });

  // Node.js 20.15 and 22.2 have crc32; older versions that are supported do not.
  (typeof crc32 === 'function' ? it : it.skip)('ends with the CRC-32 of what stands before, in base 62', () => {
    const key = createApiKey();
    const value = Array.from(key.slice(-6)).reduce((sum, character) => sum * 62 + digitOf(character), 0);
    expect(value).toBe(crc32(key.slice(0, -6)));
  });
});

function digitOf(character: string): number {
  return '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.indexOf(character);
}

describe('isApiKey', () => {
  const key = createApiKey();
  const swap = (at: number) => `${key.slice(0, at)}${key.charAt(at) === 'x' ? 'y' : 'x'}${key.slice(at + 1)}`;

  it('refuses a key with any one character changed', () => {
    for (let at = 0; at < key.length; at++) expect(isApiKey(swap(at))).toBe(false);
  });

  it.each([
    ['an empty string', ''],
    ['a truncated key', key.slice(0, -1)],
    ['a longer key', `${key}0`],
    ['a key with a line break', `${key}\n`],
    ['another prefix', key.replace('live', 'test')],
    ['upper case', key.toUpperCase()],
    ['letters of other alphabets', key.replace(/.{3}$/, '\u0430\u0431\u0432')],
    ['1 MB', key.repeat(20_000)],
  ])('refuses %s', (_, value) => {
    expect(isApiKey(value)).toBe(false);
  });
});

describe('hashApiKey', () => {
  it('depends on the key and on the secret', () => {
    const key = createApiKey();
    const hashes = [hashApiKey('a', key), hashApiKey('b', key), hashApiKey('a', createApiKey())].map((hash) => hash.toString('hex'));
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[0]).toMatch(/^[0-9a-f]{64}$/);
    expect(hashApiKey('a', key).toString('hex')).toBe(hashes[0]);
  });
});

it('lastFourOf returns the end of a key', () => {
  const key = createApiKey();
  expect(key.endsWith(lastFourOf(key))).toBe(true);
  expect(lastFourOf(key)).toHaveLength(4);
});

describe('parseApiKeySecret', () => {
  it('returns the content of the file without white space around it', () => {
    expect(parseApiKeySecret(` ${'s'.repeat(32)}\n`)).toBe('s'.repeat(32));
  });

  it('throws for a secret of less than 32 bytes', () => {
    expect(() => parseApiKeySecret(` ${'s'.repeat(31)}\n`)).toThrow('at least 32 bytes');
  });
});
