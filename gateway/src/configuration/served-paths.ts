/** The paths that a process serves, and that they differ. No I/O. */

/** A segment of unreserved characters (RFC 3986 §2.3), which no client encodes. */
const SEGMENT = /^(?!\.\.?$)[\w~.-]{1,64}$/;
const MAX_SEGMENTS = 8;

/** The paths that settings cannot change, with what is there. */
const FIXED: ReadonlyMap<string, string> = new Map([
  ['/livez', 'the liveness probe'],
  ['/readyz', 'the readiness probe'],
  ['/metrics', 'metrics'],
  ['/mcp', 'MCP'],
  ['/response-cache', 'the response cache'],
]);

/** Returns whether this is a path such as `/api/graphql`: 1 to 8 segments, without a slash at the end. */
function isPath(value: string): boolean {
  const [first, ...segments] = value.split('/');
  return first === '' && segments.length <= MAX_SEGMENTS && segments.length > 0 && segments.every((each) => SEGMENT.test(each));
}

/** Reads the path of GraphQL requests. Throws Error for another form. */
export function readGraphqlPath(value: string): string {
  if (value !== '/' && !isPath(value)) throw new Error('must be / or a path such as /api/graphql, without a slash at the end');
  return value;
}

/** Reads the path of a probe. Throws Error for another form. */
export function readProbePath(value: string): string {
  if (!isPath(value)) throw new Error('must be a path such as /health, without a slash at the end');
  return value;
}

/**
 * Reads the path of a graph, which stands before that of GraphQL requests. It has no segment `graphql`: that would be the path of another graph.
 * Throws Error for another form.
 */
export function readGraphPath(value: string): string {
  if (!isPath(value) || value.split('/').includes('graphql'))
    throw new Error('must be a path such as /shop, without /graphql, which is appended');
  return value;
}

/** The paths that settings name. */
export interface ServedPaths {
  readonly GRAPHQL_PATH: string;
  readonly LIVENESS_PATH?: string | undefined;
  readonly READINESS_PATH?: string | undefined;
}

/** Adds a fault for each path that would be served twice. A process with several graphs has one at each path of a graph. */
export function findPathFaults(
  paths: ServedPaths,
  hasSeveralGraphs: boolean,
  addFault: (name: keyof ServedPaths, message: string) => void,
): void {
  const { GRAPHQL_PATH: graphql, LIVENESS_PATH: liveness, READINESS_PATH: readiness } = paths;
  const taken = new Map(FIXED);
  const take = (name: keyof ServedPaths, path: string | undefined, what: string) => {
    if (path === undefined) return;
    const other = taken.get(path);
    if (other !== undefined && other !== what) addFault(name, `is the path of ${other}`);
    taken.set(path, what);
  };
  take('GRAPHQL_PATH', graphql, 'GraphQL requests');
  take('LIVENESS_PATH', liveness, 'the liveness probe');
  take('READINESS_PATH', readiness, 'the readiness probe');
  if (graphql === '/' && hasSeveralGraphs) addFault('GRAPHQL_PATH', 'must have a segment, because it follows the paths of several graphs');
}
