import { describe, expect, it } from '@jest/globals';
import type { FieldFault } from '@trestle/schema/errors';
import { createParameters } from '../query/parameters.ts';
import { parsePaging } from '../query/paging.ts';
import { toListResponse } from './list.ts';

const PAGE = { pageInfo: { hasNextPage: true, hasPreviousPage: true, startCursor: 'a', endCursor: 'b' }, edges: [] };
const represent = () => ({ body: {}, version: undefined, changedAt: undefined });

describe('toListResponse', () => {
  const read = (query: string, maxOffset?: number) => {
    const faults: FieldFault[] = [];
    return { paging: parsePaging(createParameters(new URLSearchParams(query)), { faults, fallback: 'page', maxOffset }), faults };
  };
  const linksOf = (query: string, totalCount: number, maxOffset?: number) => {
    const { paging, faults } = read(query, maxOffset);
    expect(faults).toEqual([]);
    const context = { prefix: '/v1', path: '/users', search: new URLSearchParams(query), paging };
    const { headers } = toListResponse({ ...PAGE, totalCount }, represent, context);
    return Object.fromEntries(
      (headers?.['link'] ?? '').split(', ').map((link) => {
        const [target = '', rel = ''] = link.split('; ');
        return [rel.slice('rel="'.length, -1), target.slice('</v1/users?'.length, -1)];
      }),
    );
  };

  it.each([
    '',
    'limit=1',
    'limit=1&page=10000',
    'limit=1&page=1000001',
    'limit=100&page=10001',
    'limit=3&page=333334',
    'perPage=1',
    'perPage=7&page=142858',
    'offset=0&limit=1',
    'offset=1000000&limit=1',
    'offset=999999&limit=10',
  ])('links only to pages that can be requested, from ?%s', (query) => {
    for (const maxOffset of [undefined, 1_000_000]) {
      const links = Object.entries(linksOf(query, 2_000_000, maxOffset));
      expect(links.length).toBeGreaterThan(1);
      for (const [rel, target] of links) expect([rel, target, read(target).faults]).toEqual([rel, target, []]);
    }
  });

  it('links to the last page that a list with few items to skip has', () => {
    expect(linksOf('limit=10&page=101', 5000, 1000)).toEqual({
      first: 'page=1&limit=10',
      prev: 'page=100&limit=10',
      last: 'page=101&limit=10',
    });
    expect(read('limit=10&page=102', 1000).faults).toEqual([{ field: 'page', message: 'must be an integer from 1 to 101' }]);
    expect(linksOf('offset=1000&limit=10', 5000, 1000)).not.toHaveProperty('next');
  });

  it.each([
    ['a list that fits on a page', { ...PAGE.pageInfo, hasNextPage: false, hasPreviousPage: false }],
    ['an empty page behind the last item', { hasNextPage: false, hasPreviousPage: true, startCursor: null, endCursor: null }],
  ])('links to the first page by cursor from %s', (_, pageInfo) => {
    const query = 'role=admin&cursor=&limit=5';
    const context = { prefix: '/v1', path: '/users', search: new URLSearchParams(query), paging: read(query).paging };
    const { headers } = toListResponse({ pageInfo, edges: [] }, represent, context);
    expect(headers).toEqual({ link: '</v1/users?role=admin&cursor=&limit=5>; rel="first"' });
    expect(read('cursor=&limit=5').faults).toEqual([]);
  });

  it('links to the next and the last page of a list that can be read to its end', () => {
    expect(linksOf('page=2', 35)).toEqual({
      first: 'page=1&limit=10',
      prev: 'page=1&limit=10',
      next: 'page=3&limit=10',
      last: 'page=4&limit=10',
    });
    expect(linksOf('page=3', 0)).toMatchObject({ prev: 'page=1&limit=10', last: 'page=1&limit=10' });
  });
});
