/** Reads the settings that are paths. No I/O. */

/** A segment of unreserved characters (RFC 3986 §2.3), which no client encodes. */
const SEGMENT = /^(?!\.\.?$)[\w~.-]{1,64}$/;
const MAX_SEGMENTS = 8;

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
    throw new Error('must be a path such as /shop, without /graphql or server.path, which is appended');
  return value;
}
