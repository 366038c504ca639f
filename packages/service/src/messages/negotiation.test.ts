import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { toAcceptedTypes, toMediaRanges } from './accept.ts';
import { chooseEncoding, encode, toEncodedTag } from './encoding.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';

describe('toAcceptedTypes', () => {
  it.each([
    [undefined, [JSON_TYPE, HTML_TYPE]],
    ['', [JSON_TYPE, HTML_TYPE]],
    ['nonsense', [JSON_TYPE, HTML_TYPE]],
    ['*/*;q=0.1', [JSON_TYPE, HTML_TYPE]],
    ['text/*, application/json;q=0.9', [HTML_TYPE, JSON_TYPE]],
    ['application/*;q=0.5, */*;q=0.1', [JSON_TYPE, HTML_TYPE]],
    ['application/json;q=0, */*', [HTML_TYPE]],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', [HTML_TYPE, JSON_TYPE]],
    ['APPLICATION/JSON', [JSON_TYPE]],
    ['application/json; charset=utf-8; q=0.3', [JSON_TYPE]],
    ['application/json; charset=latin1', []],
    ['application/json;q=nonsense', []],
    ['nonsense, application/json', [JSON_TYPE]],
    ['image/png', []],
  ])('orders the acceptable types for Accept %p', (header, types) => {
    expect(toAcceptedTypes(header, [JSON_TYPE, HTML_TYPE])).toEqual(types);
  });

  it('returns only available types for any header', () => {
    fc.assert(
      fc.property(fc.string(), (header) => {
        for (const type of toAcceptedTypes(`${header}/`, [JSON_TYPE])) expect(type).toBe(JSON_TYPE);
      }),
    );
  });
});

describe('toMediaRanges', () => {
  it.each([
    ['nonsense', []],
    ['text/html, */*', ['text/html', '*/*']],
    ['text/html;q=0.1, application/json;q=0.9, image/png;q=0', ['application/json', 'text/html']],
    ['application/json; charset=utf-8', ['application/json']],
  ])('orders the ranges of Accept %p', (header, ranges) => {
    expect(toMediaRanges(header)).toEqual(ranges);
  });
});

describe('chooseEncoding', () => {
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
    ['gzip;q=0.5', 'gzip'],
    ['br;q=0, gzip;q=0', 'identity'],
    ['identity;q=0', 'identity'],
    ['gzip;q=nonsense', 'identity'],
  ])('chooses by Accept-Encoding %p the coding %s', (header, encoding) => {
    expect(chooseEncoding(header, 5000)).toBe(encoding);
  });

  it('does not compress fewer than 1024 bytes unless the client refuses identity', () => {
    expect(chooseEncoding('br, gzip', 1000)).toBe('identity');
    expect(chooseEncoding('br;q=0, gzip', 1000)).toBe('identity');
    expect(chooseEncoding('gzip, identity;q=0', 1000)).toBe('gzip');
    expect(chooseEncoding('br;q=0.5, *;q=0', 1000)).toBe('br');
  });
});

describe('encode', () => {
  it('compresses to bytes that decompress to the same content', async () => {
    const bytes = Buffer.from('trestle '.repeat(500));
    expect(brotliDecompressSync(await encode(bytes, 'br')).equals(bytes)).toBe(true);
    expect(gunzipSync(await encode(bytes, 'gzip')).equals(bytes)).toBe(true);
  });
});

describe('toEncodedTag', () => {
  it('adds the coding to the tag and keeps the version', () => {
    expect([toEncodedTag('"v3-a"', 'br'), toEncodedTag('"v3-a"', 'identity')]).toEqual(['"v3-a-br"', '"v3-a"']);
  });
});
