import { randomBytes } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { createCompression } from './compression.ts';

const SIZE = 100_000;
const bytes = () => randomBytes(SIZE);

describe('createCompression', () => {
  it('chooses no coding when it is off, without Accept-Encoding, and for small results', () => {
    expect(createCompression(false).choose('br', SIZE)).toBe('identity');
    expect(createCompression(true).choose(undefined, SIZE)).toBe('identity');
    expect(createCompression(true).choose('br', 100)).toBe('identity');
  });

  it('chooses what the client prefers, and compresses by it', async () => {
    const compression = createCompression(true);
    const plain = bytes();
    expect(compression.choose('br;q=0.5, gzip', SIZE)).toBe('gzip');
    expect(gunzipSync(await compression.compress(plain, 'gzip')).equals(plain)).toBe(true);
  });

  it.each([
    ['results', { maxResults: 1, maxBytes: 10 * SIZE }],
    ['bytes', { maxResults: 10, maxBytes: 1.5 * SIZE }],
  ])('chooses no coding while as many %s as allowed are being compressed', async (_, limits) => {
    const compression = createCompression(true, limits);
    const pending = compression.compress(bytes(), 'gzip');
    expect(compression.choose('gzip, identity;q=0', SIZE)).toBe('identity');
    await pending;
    expect(compression.choose('gzip', SIZE)).toBe('gzip');
  });

  it('chooses a coding for a result that is larger than the limit while nothing else is being compressed', () => {
    expect(createCompression(true, { maxResults: 10, maxBytes: 1 }).choose('br', SIZE)).toBe('br');
  });
});
