/** Finds paths that would be served twice, or not at all. No I/O. */
import type { GraphPlace } from './graph-places.ts';

/** The paths that settings name. */
export interface ServedPaths {
  readonly GRAPHQL_PATH: string;
  readonly LIVENESS_PATH?: string | undefined;
  readonly READINESS_PATH?: string | undefined;
}

type SettingName = keyof ServedPaths;
type AddFault = (name: SettingName, message: string) => void;

interface Taken {
  /** The setting whose value this path may be. */
  readonly by?: SettingName;
  readonly what: string;
}

/** The paths of the process that settings cannot change. */
const OF_PROCESS: ReadonlyMap<string, Taken> = new Map([
  ['/livez', { by: 'LIVENESS_PATH', what: 'the liveness probe' }],
  ['/readyz', { by: 'READINESS_PATH', what: 'the readiness probe' }],
  ['/metrics', { what: 'metrics' }],
]);

/** Those of each graph, which stand behind the path of one of several graphs. */
const OF_GRAPH: ReadonlyMap<string, Taken> = new Map([
  ['/mcp', { what: 'MCP' }],
  ['/.well-known/oauth-protected-resource/mcp', { what: 'the metadata of MCP' }],
  ['/response-cache', { what: 'the response cache' }],
]);

/** Adds a fault for each path that would be served twice, or not at all. `graphs`: the places of several graphs; undefined for one graph. */
export function findPathFaults(paths: ServedPaths, graphs: readonly GraphPlace[] | undefined, addFault: AddFault): void {
  const { GRAPHQL_PATH: graphql, LIVENESS_PATH: liveness, READINESS_PATH: readiness } = paths;
  const taken = new Map([...OF_PROCESS, ...OF_GRAPH]);
  const take = (by: SettingName, path: string | undefined, what: string) => {
    if (path === undefined) return;
    const other = taken.get(path);
    if (other && other.by !== by) addFault(by, `is the path of ${other.what}`);
    taken.set(path, { by, what });
  };
  take('GRAPHQL_PATH', graphql, 'GraphQL requests (server.path)');
  for (const { path, name = '' } of graphs ?? [])
    for (const [own, { what }] of [...OF_GRAPH, [graphql, { what: 'GraphQL requests (server.path)' }] as const])
      if (path !== '') taken.set(path + own, { what: `${what} of the graph ${name}` });
  take('LIVENESS_PATH', liveness, 'the liveness probe (server.livenessPath)');
  take('READINESS_PATH', readiness, 'the readiness probe (server.readinessPath)');
  if (graphs === undefined) return;
  if (graphql === '/') addFault('GRAPHQL_PATH', 'must have a segment, because it follows the paths of several graphs');
  else findHiddenGraphs(graphql, graphs, addFault);
}

/** Adds a fault for each graph that does not get its requests, because its path of GraphQL requests is below that of another graph. */
function findHiddenGraphs(graphql: string, graphs: readonly GraphPlace[], addFault: AddFault): void {
  for (const graph of graphs) {
    const path = graph.path + graphql;
    // Files of GraphiQL are below the path.
    const other = graphs.find((each) => isPreferred(each, graph) && `${path}/`.startsWith(`${each.path}/`));
    if (other)
      addFault(
        'GRAPHQL_PATH',
        `gives the graph ${graph.name ?? ''} the path ${path}, which the graph ${other.name ?? ''} gets: its path is ${other.path}; change one of the paths`,
      );
  }
}

/** Returns whether a graph has a longer path than another, and gets requests for a host of the other (see `createGraphChooser`). */
function isPreferred(graph: GraphPlace, other: GraphPlace): boolean {
  const hasHost = other.hosts.length === 0 || graph.hosts.some((host) => other.hosts.includes(host));
  return hasHost && graph.path.startsWith(`${other.path}/`);
}
