import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createBrotliDecompress, createGunzip, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { PartsEncoder } from '../delivery/parts-encoder.ts';
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
    ['results', { maxResults: 1, maxBytes: 10 * SIZE, maxEncoders: 1 }],
    ['bytes', { maxResults: 10, maxBytes: 1.5 * SIZE, maxEncoders: 1 }],
  ])('chooses no coding while as many %s as allowed are being compressed', async (_, limits) => {
    const compression = createCompression(true, limits);
    const pending = compression.compress(bytes(), 'gzip');
    expect(compression.choose('gzip, identity;q=0', SIZE)).toBe('identity');
    await pending;
    expect(compression.choose('gzip', SIZE)).toBe('gzip');
  });

  it('chooses a coding for a result that is larger than the limit while nothing else is being compressed', () => {
    expect(createCompression(true, { maxResults: 10, maxBytes: 1, maxEncoders: 1 }).choose('br', SIZE)).toBe('br');
  });

  it.each(['gzip', 'br'] as const)('compresses parts by %s so that each can be read when it arrives', async (encoding) => {
    const { stream } = createCompression(true).openParts(encoding) as PartsEncoder;
    const decoder = encoding === 'gzip' ? createGunzip() : createBrotliDecompress();
    stream.pipe(decoder);
    for (const part of ['first', 'second']) {
      stream.write(part);
      const [received] = (await once(decoder, 'data')) as [Buffer];
      expect(received.toString()).toBe(part);
    }
    stream.destroy();
  });

  it('opens no encoder for a client that accepts none, and while as many as allowed are open', async () => {
    const compression = createCompression(true, { maxResults: 1, maxBytes: SIZE, maxEncoders: 1 });
    for (const accepted of [undefined, '', 'identity', 'deflate', 'gzip;q=0']) expect(compression.openParts(accepted)).toBeUndefined();
    const encoder = compression.openParts('gzip, br') as PartsEncoder;
    expect(encoder.encoding).toBe('br');
    expect(compression.openParts('gzip')).toBeUndefined();
    encoder.stream.destroy();
    await once(encoder.stream, 'close');
    compression.openParts('gzip')?.stream.destroy();
    expect(createCompression(false).openParts('gzip')).toBeUndefined();
  });
});
