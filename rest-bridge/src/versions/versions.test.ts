import { describe, expect, it } from '@jest/globals';
import { createVersions } from './versions.ts';

const lifecycle = { deprecatedAt: new Date('2025-01-01'), sunsetAt: new Date('2026-01-01') };
const versions = createVersions(new Map([[1, lifecycle]]), () => Date.parse('2026-06-01'));

describe('statusOf', () => {
  it.each([
    ['', '/users'],
    ['/v1', '/users'],
    ['/v1', '/.well-known/jwks.json'],
    ['', '/.well-known-not/jwks.json'],
  ])('says that a version past its sunset is retired at %s%s', (prefix, path) => {
    const { retired, headers } = versions.statusOf(1, { api: '', prefix, path });
    expect(retired).toBe('API version 1 was retired on 2026-01-01. Use version 2.');
    expect(headers).toMatchObject({ deprecation: 'true', link: `</v2${path}>; rel="successor-version"` });
  });

  it('does not apply to an unversioned path below /.well-known/, whatever the version', () => {
    const status = versions.statusOf(1, { api: '', prefix: '', path: '/.well-known/jwks.json' });
    expect(status).toEqual({ retired: undefined, headers: {} });
  });
});

describe('the index and the documents without a version', () => {
  const retired = (versions: readonly number[]) => {
    const all = createVersions(new Map(versions.map((version) => [version, lifecycle])), () => Date.parse('2026-06-01'));
    return (api: string, path: string) => {
      const place = { api, prefix: api, path };
      const version = all.defaultAt(place);
      return [version, all.statusOf(version, place).retired === undefined];
    };
  };

  it.each(['/', '/docs', '/docs/', '/openapi.json', '/asyncapi.json'])('remain after the retirement of versions: %s', (path) => {
    expect([retired([])('', path), retired([1])('', path), retired([1, 2])('', path)]).toEqual([
      [1, true],
      [2, true],
      [2, true],
    ]);
    expect(retired([1])('/api', path)).toEqual([2, true]);
  });

  it('are the only paths without a version that remain', () => {
    expect(retired([1])('', '/users')).toEqual([1, false]);
    expect(versions.statusOf(1, { api: '', prefix: '/v1', path: '/docs' }).retired).toContain('retired');
    expect(versions.statusOf(1, { api: '', prefix: '', path: '/docs' }).retired).toContain('retired');
  });
});
