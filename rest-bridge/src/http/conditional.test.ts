import { describe, expect, it } from '@jest/globals';
import { isNotModified, matchesStrongly, readExpectedVersions, toEtag } from './conditional.ts';

const bytes = Buffer.from('{}');

describe('an ETag', () => {
  it('is strong and changes with the bytes and with the version', () => {
    expect(toEtag(bytes, 3)).toMatch(/^"v3-[\w-]{16}"$/);
    expect(toEtag(bytes, 3)).not.toBe(toEtag(bytes, 4));
    expect(toEtag(bytes, 3)).not.toBe(toEtag(Buffer.from('[]'), 3));
    expect(toEtag(bytes, undefined)).toMatch(/^"[\w-]{16}"$/);
  });
});

describe('If-Match', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"v3-abc"', [3]],
    ['"v3-abc", "v4-x"', [3, 4]],
    ['W/"v3-abc"', []],
    ['"nonsense"', []],
    ['', []],
    ['"v3-a,b", W/"v9-x","v5"', [3, 5]],
  ])('%p accepts the versions %p', (header, versions) => {
    expect(readExpectedVersions(header)).toEqual(versions);
  });

  it('compares strongly for reads', () => {
    const etag = toEtag(bytes, 1);
    expect([
      matchesStrongly(undefined, etag),
      matchesStrongly('*', etag),
      matchesStrongly(`"x", ${etag}`, etag),
      matchesStrongly(`W/${etag}`, etag),
    ]).toEqual([true, true, true, false]);
  });
});

it('If-None-Match compares weakly, lists and * too', () => {
  const etag = toEtag(bytes, 1);
  expect([
    isNotModified(undefined, etag),
    isNotModified('*', etag),
    isNotModified(`W/${etag}`, etag),
    isNotModified(`"a", ${etag}`, etag),
    isNotModified('"a"', etag),
  ]).toEqual([false, true, true, true, false]);
});
