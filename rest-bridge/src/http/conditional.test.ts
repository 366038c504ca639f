import { describe, expect, it } from '@jest/globals';
import { anyCharacter } from '@trestle/service/testing/test-characters';
import fc from 'fast-check';
import { allowsRange, evaluateReadConditions, needsState, parseWriteConditions, toEtag, toExpectedVersions } from './conditional.ts';

const bytes = Buffer.from('{}');
const etag = '"v3-abc"';
const lastModified = 'Wed, 21 Oct 2026 07:28:00 GMT';
const earlier = 'Wed, 21 Oct 2026 07:27:59 GMT';
const later = 'Wed, 21 Oct 2026 07:28:01 GMT';

describe('toEtag', () => {
  it('returns a strong tag that changes with the bytes and with the version', () => {
    expect(toEtag(bytes, 3)).toMatch(/^"v3-[\w-]{16}"$/);
    expect(toEtag(bytes, 3)).not.toBe(toEtag(bytes, 4));
    expect(toEtag(bytes, 3)).not.toBe(toEtag(Buffer.from('[]'), 3));
    expect(toEtag(bytes, undefined)).toMatch(/^"[\w-]{16}"$/);
  });
});

describe('evaluateReadConditions', () => {
  it.each([
    [{}, 'proceed'],
    [{ 'if-match': '*' }, 'proceed'],
    [{ 'if-match': `"x", ${etag}` }, 'proceed'],
    [{ 'if-match': `W/${etag}` }, 'precondition failed'],
    [{ 'if-match': '"x"' }, 'precondition failed'],
    [{ 'if-match': '"x"', 'if-none-match': etag }, 'precondition failed'],
    [{ 'if-unmodified-since': earlier }, 'precondition failed'],
    [{ 'if-unmodified-since': lastModified }, 'proceed'],
    [{ 'if-unmodified-since': earlier, 'if-match': etag }, 'proceed'],
    [{ 'if-none-match': etag }, 'not modified'],
    [{ 'if-none-match': `W/${etag}` }, 'not modified'],
    [{ 'if-none-match': '*' }, 'not modified'],
    [{ 'if-none-match': `"a", ${etag}` }, 'not modified'],
    [{ 'if-none-match': '"a"' }, 'proceed'],
    [{ 'if-none-match': '"a"', 'if-modified-since': later }, 'proceed'],
    [{ 'if-modified-since': lastModified }, 'not modified'],
    [{ 'if-modified-since': earlier }, 'proceed'],
    [{ 'if-modified-since': 'yesterday' }, 'proceed'],
    [{ 'if-modified-since': '2026-12-01' }, 'proceed'],
  ] as const)('evaluates %j to: %s', (headers, verdict) => {
    expect(evaluateReadConditions(headers, { etag, lastModified })).toBe(verdict);
  });

  it('ignores date conditions when the representation has no Last-Modified', () => {
    expect(evaluateReadConditions({ 'if-modified-since': later, 'if-unmodified-since': earlier }, { etag })).toBe('proceed');
  });
});

describe('allowsRange', () => {
  it('allows a range without If-Range, and with the exact entity tag only', () => {
    expect([undefined, etag, `W/${etag}`, '"x"', lastModified].map((ifRange) => allowsRange(ifRange, etag))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('conditions of a write', () => {
  it.each([
    [undefined, undefined],
    ['*', undefined],
    ['"v3-abc"', [3]],
    ['"v3-abc-br"', [3]],
    ['"v3-abc", "v4-x"', [3, 4]],
    ['W/"v3-abc"', []],
    ['"nonsense"', []],
    ['', []],
    ['"v3-a,b", W/"v9-x","v5"', [3, 5]],
    ['"v3-a", "v3-b"', [3]],
    ['"v0-a", "v03-b"', []],
  ])('parses If-Match %p to the versions %p', (ifMatch, versions) => {
    expect(parseWriteConditions({ 'if-match': ifMatch }).expectedVersions).toEqual(versions);
  });

  const tags = (count: number) => Array.from({ length: count }, (_, i) => `"v${String(i + 1)}-x"`).join(', ');
  it.each([
    ['no condition', {}, false],
    ['one version', { 'if-match': tags(1) }, false],
    ['100 versions', { 'if-match': tags(100) }, false],
    ['one version, 200 times', { 'if-match': `${tags(1)}, `.repeat(200) }, false],
    ['more than 100 versions', { 'if-match': tags(101) }, true],
    ['any version', { 'if-match': '*' }, true],
    ['no version', { 'if-none-match': '*' }, true],
    ['a date', { 'if-unmodified-since': earlier }, true],
  ])('says whether %s needs the state of the resource', (_, headers, isRead) => {
    expect(needsState(parseWriteConditions(headers))).toBe(isRead);
  });

  const found = { version: 3, changedAt: '2026-10-21T07:28:00Z' };
  const missing = { version: 0, changedAt: undefined };
  it.each([
    [{}, found, [3]],
    [{ 'if-match': '*' }, found, undefined],
    [{ 'if-match': '*', 'if-none-match': '"v2-x"' }, found, [3]],
    [{ 'if-match': '*', 'if-none-match': '*' }, found, []],
    [{ 'if-match': '*', 'if-unmodified-since': earlier }, found, undefined],
    [{ 'if-match': '*' }, missing, []],
    [{ 'if-match': '"v3-x"' }, found, [3]],
    [{ 'if-match': '"v2-x"' }, found, []],
    [{ 'if-unmodified-since': earlier }, found, []],
    [{ 'if-unmodified-since': lastModified }, found, [3]],
    [{ 'if-unmodified-since': earlier }, missing, [0]],
    [{ 'if-none-match': '*' }, found, []],
    [{ 'if-none-match': '*' }, missing, [0]],
    [{ 'if-none-match': 'W/"v3-x"' }, found, []],
    [{ 'if-none-match': '"v2-x"' }, found, [3]],
  ])('turns the conditions %j and the state %j into the expected versions %j', (headers, resource, versions) => {
    expect(toExpectedVersions(parseWriteConditions(headers), resource)).toEqual(versions);
  });

  it('parses every version in a list of tags with any separators', () => {
    const version = fc.integer({ min: 1, max: 999_999_999 });
    const separator = fc.constantFrom(',', ', ', ' , ', ',,');
    fc.assert(
      fc.property(fc.array(fc.tuple(version, separator), { minLength: 1, maxLength: 20 }), (tags) => {
        const header = tags.map(([number, between]) => `"v${String(number)}-x"${between}`).join('');
        expect(parseWriteConditions({ 'if-match': header }).expectedVersions).toEqual([...new Set(tags.map(([number]) => number))]);
      }),
    );
  });

  it('does not throw for any header value', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        const headers = { 'if-match': text, 'if-none-match': text, 'if-unmodified-since': text, 'if-modified-since': text };
        parseWriteConditions(headers);
        evaluateReadConditions(headers, { etag, lastModified });
      }),
    );
  });
});
