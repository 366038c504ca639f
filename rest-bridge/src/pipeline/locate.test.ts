import { describe, expect, it } from '@jest/globals';
import { createVersions } from '../versions/versions.ts';
import { locate } from './locate.ts';

const versions = createVersions(new Map());

describe('locate', () => {
  it.each([
    ['/a\\b', '/a%5Cb'],
    ['/a"<>`{|}^b', '/a%22%3C%3E%60%7B%7C%7D%5Eb'],
    ['/\u00c3\u00a9', '/%C3%A9'],
    ["/a-b.c_d~e!f$g&h'(i)*+,;=:@%41", "/a-b.c_d~e!f$g&h'(i)*+,;=:@%41"],
  ])('returns %j as the path %j, which is valid in a header', (url, path) => {
    expect(locate(versions, { url, headers: {} }).path).toBe(path);
  });

  it('refuses a query string that is not UTF-8', () => {
    expect(() => locate(versions, { url: '/users?name=%ff', headers: {} })).toThrow('The query string is not valid UTF-8.');
  });
});
