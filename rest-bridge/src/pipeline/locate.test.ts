import { describe, expect, it } from '@jest/globals';
import { createVersions } from '../versions/versions.ts';
import { locate, toVersionHeaders } from './locate.ts';

const versions = createVersions(new Map());
const lifecycle = { deprecatedAt: new Date('2025-01-01'), sunsetAt: new Date('2099-01-01') };
const deprecating = createVersions(new Map([[1, lifecycle]]), () => Date.parse('2026-01-01'));

describe('locate', () => {
  it.each([
    ['/a\\b', '/a%5Cb'],
    ['/a"<>`{|}^b', '/a%22%3C%3E%60%7B%7C%7D%5Eb'],
    ['/\u00c3\u00a9', '/%C3%A9'],
    ["/a-b.c_d~e!f$g&h'(i)*+,;=:@%41", "/a-b.c_d~e!f$g&h'(i)*+,;=:@%41"],
  ])('returns %j as the path %j, which is valid in a header', (url, path) => {
    expect(locate(versions, { url, headers: {} }).path).toBe(path);
  });

  it.each([
    ['/users?limit=1', ['limit']],
    ['/users??limit=1', ['?limit']],
    ['/users??', ['?']],
    ['/users?', []],
  ])('returns the names of parameters as they are: %s has %j', (url, names) => {
    expect([...locate(versions, { url, headers: {} }).search.keys()]).toEqual(names);
  });

  it('refuses a query string that is not UTF-8', () => {
    expect(() => locate(versions, { url: '/users?name=%ff', headers: {} })).toThrow('The query string is not valid UTF-8.');
  });
});

describe('toVersionHeaders', () => {
  const DEPRECATED = { 'api-version': '1', deprecation: 'true', sunset: 'Thu, 01 Jan 2099 00:00:00 GMT' };

  it.each([
    ['/v2/users', {}, { 'api-version': '2' }],
    ['/users', { 'api-version': '2' }, { 'api-version': '2' }],
    ['/api/v1/users', {}, { ...DEPRECATED, link: '</api/v2/users>; rel="successor-version"' }],
    ['/users', {}, { ...DEPRECATED, link: '</v2/users>; rel="successor-version"' }],
    // A link of the same length would exceed the limit of many clients.
    [`/v1/${'x'.repeat(9000)}`, {}, { ...DEPRECATED, link: '</v2>; rel="successor-version"' }],
    [`/v2/${'x'.repeat(9000)}`, {}, { 'api-version': '2' }],
    ['/v3/users', {}, { 'api-version': '1' }],
    ['/v2/users', { 'api-version': '1' }, { 'api-version': '1' }],
    ['http://[', {}, { 'api-version': '1' }],
  ])('returns those of the version that a request selects: %.20s with %j', (url, headers, expected) => {
    expect(toVersionHeaders(deprecating, { url, headers })).toEqual(expected);
  });
});
