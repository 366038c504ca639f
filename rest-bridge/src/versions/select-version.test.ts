import { describe, expect, it } from '@jest/globals';
import { selectVersion } from './select-version.ts';
import { createVersions } from './versions.ts';

const versions = createVersions(new Map());
const select = (accept: string | undefined, path?: string) =>
  selectVersion(versions, { path, header: undefined, accept, query: null, fallback: 1 });
const vendor = (version: number) => `application/vnd.trestle.v${String(version)}+json`;

describe('the version in Accept', () => {
  it.each([
    [undefined, 1],
    ['*/*', 1],
    [vendor(2), 2],
    [`${vendor(2)}; charset=utf-8`, 2],
    ['application/vnd.Trestle.V2+JSON', 2],
    [`${vendor(1)};q=0, ${vendor(2)}`, 2],
    [`${vendor(1)};q=0.1, ${vendor(2)};q=0.9`, 2],
    [`${vendor(2)}, ${vendor(1)}`, 2],
    [`${vendor(9)}, ${vendor(2)};q=0.1`, 2],
    [`${vendor(9)};q=0, application/json`, 1],
    [`${vendor(2)}x, application/json`, 1],
    [`x${vendor(2)}, application/json`, 1],
  ])('of %p is %i', (accept, version) => {
    expect(select(accept)).toBe(version);
  });

  it('is not acceptable when no named one exists', () => {
    expect(() => select(`${vendor(9)}, application/json`)).toThrow('API version 9 does not exist. Existing versions: 1, 2.');
  });

  it('must be that of the path', () => {
    expect(select(`${vendor(1)};q=0, ${vendor(2)}`, '2')).toBe(2);
    expect(() => select(vendor(2), '1')).toThrow('select different API versions: 1 and 2');
  });
});
