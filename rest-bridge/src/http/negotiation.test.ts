import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { accepts, readAccept } from './accept.ts';
import { chooseEncoding, encode, toEncodedTag } from '@trestle/service/encoding';

describe('Accept', () => {
  it.each([
    [undefined, 'application/json', 1],
    ['', 'application/json', 1],
    ['*/*;q=0.1', 'application/json', 0.1],
    ['application/*;q=0.5, */*;q=0.1', 'application/json', 0.5],
    ['application/json;q=0, */*', 'application/json', 0],
    ['APPLICATION/JSON', 'application/json', 1],
    ['application/json; charset=utf-8; q=0.3', 'application/json', 0.3],
    ['text/html', 'application/json', 0],
    ['application/json;q=2', 'application/json', 0],
    ['nonsense, application/json', 'application/json', 1],
  ])('%s welcomes %s by %d', (header, type, quality) => {
    expect(accepts(readAccept(header), type)).toBe(quality);
  });

  it('is read whatever it holds, and never more welcome than wholly', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        const quality = accepts(readAccept(header), 'application/json');
        expect(quality >= 0 && quality <= 1).toBe(true);
      }),
    );
  });
});

describe('Accept-Encoding', () => {
  it.each([
    [undefined, 'identity'],
    ['', 'identity'],
    ['gzip', 'gzip'],
    ['gzip, br', 'br'],
    ['gzip, br;q=0.9', 'gzip'],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['x-gzip', 'gzip'],
    ['deflate', 'identity'],
    ['identity, gzip;q=0.5', 'identity'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['gzip;q=nonsense', 'identity'],
  ])('%s chooses %s', (header, encoding) => {
    expect(chooseEncoding(header, 5000)).toBe(encoding);
  });

  it('leaves small answers as they are, unless plain bytes are refused', () => {
    expect(chooseEncoding('br, gzip', 1000)).toBe('identity');
    expect(chooseEncoding('gzip, identity;q=0', 1000)).toBe('gzip');
    expect(chooseEncoding('br;q=0.5, *;q=0', 1000)).toBe('br');
  });

  it('gives back what went in, under a tag of its own that keeps the version', async () => {
    const bytes = Buffer.from('trestle '.repeat(500));
    expect(brotliDecompressSync(await encode(bytes, 'br')).equals(bytes)).toBe(true);
    expect(gunzipSync(await encode(bytes, 'gzip')).equals(bytes)).toBe(true);
    expect([toEncodedTag('"v3-a"', 'br'), toEncodedTag('"v3-a"', 'identity')]).toEqual(['"v3-a-br"', '"v3-a"']);
  });
});
