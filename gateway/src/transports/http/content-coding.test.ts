import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { UnsupportedCoding, chooseDecoder } from './content-coding.ts';

const TEXT = Buffer.from(JSON.stringify({ query: '{ hello }' }).padEnd(5000));
const LIMIT = TEXT.length;

const decode = (coding: string, bytes: Buffer, maxBytes = LIMIT) => chooseDecoder(coding)?.(bytes, maxBytes);

describe('chooseDecoder', () => {
  it.each([
    ['gzip', gzipSync(TEXT)],
    ['GZip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
  ])('decompresses %s, up to the limit', (coding, bytes) => {
    expect(decode(coding, bytes)?.equals(TEXT)).toBe(true);
    expect(() => decode(coding, bytes, LIMIT - 1)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }));
  });

  it('returns no decoder for identity', () => {
    expect(chooseDecoder('identity')).toBeUndefined();
  });

  it.each(['', 'zstd', 'compress', 'gzip, br', 'gzip,gzip', '__proto__', 'constructor', ' gzip\u00e9'])(
    'throws UnsupportedCoding with the accepted codings for %j',
    (coding) => {
      expect(() => chooseDecoder(coding)).toThrow(UnsupportedCoding);
      expect(() => chooseDecoder(coding)).toThrow(expect.objectContaining({ accepted: 'gzip, br, deflate' }));
    },
  );

  it.each([
    ['gzip', TEXT],
    ['gzip', gzipSync(TEXT).subarray(0, -9)],
    ['gzip', Buffer.from([0x1f, 0x8b])],
    ['br', TEXT],
    ['br', brotliCompressSync(TEXT).subarray(0, -3)],
    ['deflate', deflateRawSync(TEXT)],
    ['deflate', gzipSync(TEXT)],
  ])('throws VALIDATION_ERROR for data that are not valid %s', (coding, bytes) => {
    expect(() => decode(coding, bytes)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  const zeros = Buffer.alloc(64 * 1024 * 1024);
  it.each([
    ['gzip', gzipSync(zeros)],
    ['br', brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ])('ends the decompression of a bomb (%s) at the limit', (coding, bomb) => {
    const before = process.memoryUsage().arrayBuffers;
    expect(() => decode(coding, bomb)).toThrow(expect.objectContaining({ code: 'PAYLOAD_TOO_LARGE' }));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024);
  });
});
