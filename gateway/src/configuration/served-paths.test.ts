import { describe, expect, it } from '@jest/globals';
import { findPathFaults, readGraphPath, readGraphqlPath, readProbePath } from './served-paths.ts';

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

describe('findPathFaults', () => {
  const find = (paths: Partial<Parameters<typeof findPathFaults>[0]>, hasSeveralGraphs = false) => {
    const faults: string[] = [];
    findPathFaults({ GRAPHQL_PATH: '/graphql', ...paths }, hasSeveralGraphs, (name, message) => faults.push(`${name} ${message}`));
    return faults;
  };

  it('finds none where all paths differ, or a probe is named at its own path', () => {
    expect(find({})).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/', LIVENESS_PATH: '/livez', READINESS_PATH: '/readyz' })).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/api' }, true)).toEqual([]);
  });

  it('finds each path that would be served twice', () => {
    expect(find({ GRAPHQL_PATH: '/mcp' })).toEqual(['GRAPHQL_PATH is the path of MCP']);
    expect(find({ LIVENESS_PATH: '/graphql', READINESS_PATH: '/metrics' })).toEqual([
      'LIVENESS_PATH is the path of GraphQL requests',
      'READINESS_PATH is the path of metrics',
    ]);
    expect(find({ LIVENESS_PATH: '/health', READINESS_PATH: '/health' })).toEqual(['READINESS_PATH is the path of the liveness probe']);
    expect(find({ LIVENESS_PATH: '/readyz' })).toEqual(['LIVENESS_PATH is the path of the readiness probe']);
  });

  it('refuses / for several graphs', () => {
    expect(find({ GRAPHQL_PATH: '/' }, true)).toEqual(['GRAPHQL_PATH must have a segment, because it follows the paths of several graphs']);
  });
});
