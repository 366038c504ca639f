import { describe, expect, it } from '@jest/globals';
import { findPathFaults } from './path-faults.ts';

describe('findPathFaults', () => {
  type Paths = Partial<Parameters<typeof findPathFaults>[0]>;
  const find = (paths: Paths, graphs?: Parameters<typeof findPathFaults>[1]) => {
    const faults: string[] = [];
    findPathFaults({ GRAPHQL_PATH: '/graphql', ...paths }, graphs, (name, message) => faults.push(`${name} ${message}`));
    return faults;
  };
  const at = (name: string, path: string, ...hosts: string[]) => ({ name, path, hosts });

  it('finds none where all paths differ, or a probe is named at its own path', () => {
    expect(find({})).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/', LIVENESS_PATH: '/livez', READINESS_PATH: '/readyz' })).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/api' }, [at('shop', '/shop'), at('all', '')])).toEqual([]);
  });

  it('finds each path that would be served twice, and names both settings', () => {
    expect(find({ GRAPHQL_PATH: '/mcp' })).toEqual(['GRAPHQL_PATH is the path of MCP']);
    expect(find({ GRAPHQL_PATH: '/.well-known/oauth-protected-resource/mcp' })).toEqual([
      'GRAPHQL_PATH is the path of the metadata of MCP',
    ]);
    expect(find({ LIVENESS_PATH: '/graphql', READINESS_PATH: '/metrics' })).toEqual([
      'LIVENESS_PATH is the path of GraphQL requests (server.path)',
      'READINESS_PATH is the path of metrics',
    ]);
    expect(find({ LIVENESS_PATH: '/health', READINESS_PATH: '/health' })).toEqual([
      'READINESS_PATH is the path of the liveness probe (server.livenessPath)',
    ]);
    expect(find({ LIVENESS_PATH: '/readyz' })).toEqual(['LIVENESS_PATH is the path of the readiness probe']);
    expect(find({ LIVENESS_PATH: '/livez', READINESS_PATH: '/livez' })).toHaveLength(1);
  });

  it('refuses probes at the paths of one of several graphs', () => {
    const graphs = [at('shop', '/shop'), at('all', '')];
    expect(find({ LIVENESS_PATH: '/shop/graphql', READINESS_PATH: '/shop/mcp' }, graphs)).toEqual([
      'LIVENESS_PATH is the path of GraphQL requests (server.path) of the graph shop',
      'READINESS_PATH is the path of MCP of the graph shop',
    ]);
    expect(find({ LIVENESS_PATH: '/shop/health', READINESS_PATH: '/shop/livez' }, graphs)).toEqual([]);
  });

  it('refuses / for several graphs', () => {
    expect(find({ GRAPHQL_PATH: '/' }, [at('shop', '/shop')])).toEqual([
      'GRAPHQL_PATH must have a segment, because it follows the paths of several graphs',
    ]);
  });

  it.each([
    ['/shop/query', '', '/shop'],
    ['/b/c', '/a', '/a/b'],
    ['/query', '', '/query'],
  ])('refuses %s where the graph at "%s" would lose requests to that at %s', (path, one, other) => {
    expect(find({ GRAPHQL_PATH: path }, [at('one', one), at('other', other)])).toEqual([
      `GRAPHQL_PATH gives the graph one the path ${one}${path}, which the graph other gets: its path is ${other}; change one of the paths`,
    ]);
  });

  it('lets graphs with other hosts, and paths that are the beginning of a segment, have any paths', () => {
    expect(find({ GRAPHQL_PATH: '/shop/query' }, [at('one', '', 'a.example'), at('other', '/shop', 'b.example')])).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/shop/query' }, [at('one', '', 'a.example'), at('other', '/shop')])).toEqual([]);
    expect(find({ GRAPHQL_PATH: '/shop/query' }, [at('one', '', 'a.example'), at('other', '/shop', 'a.example')])).toHaveLength(1);
    expect(find({ GRAPHQL_PATH: '/shop/query' }, [at('one', ''), at('other', '/shop', 'b.example')])).toHaveLength(1);
    expect(find({ GRAPHQL_PATH: '/shopping/query' }, [at('one', ''), at('other', '/shop')])).toEqual([]);
  });
});
