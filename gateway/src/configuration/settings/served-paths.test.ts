import { describe, expect, it } from '@jest/globals';
import { readGraphPath, readGraphqlPath, readProbePath } from './served-paths.ts';

const WRONG = [
  '',
  'graphql',
  '/graphql/',
  '//',
  '//graphql',
  '/a//b',
  '/.',
  '/../graphql',
  '/gr%61ph',
  '/a?b',
  '/a b',
  '/ä',
  '/a:b',
  `/${'a'.repeat(65)}`,
];

describe('paths', () => {
  it.each([...WRONG, '/1/2/3/4/5/6/7/8/9'])('of GraphQL requests and probes are not %j', (path) => {
    expect(() => readGraphqlPath(path)).toThrow(/^must be \/ or a path such as/);
    expect(() => readProbePath(path)).toThrow(/^must be a path such as/);
  });

  it('may have eight segments', () => {
    for (const path of ['/graphql', '/api/v1.0/query_~-', '/1/2/3/4/5/6/7/8', '/...']) {
      expect(readGraphqlPath(path)).toBe(path);
      expect(readProbePath(path)).toBe(path);
    }
  });

  it('may be / for GraphQL requests only', () => {
    expect(readGraphqlPath('/')).toBe('/');
    expect(() => readProbePath('/')).toThrow();
    expect(() => readGraphPath('/')).toThrow();
  });

  it('of graphs have no segment graphql', () => {
    expect(readGraphPath('/shop/graphql2')).toBe('/shop/graphql2');
    for (const path of ['/graphql', '/shop/graphql', '/graphql/shop']) expect(() => readGraphPath(path)).toThrow();
  });
});
