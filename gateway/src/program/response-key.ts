/** Response keys in fetches: those of the client, except for aliases that the gateway itself may use as response keys. */

/** No field of a schema begins like this (GraphQL §3.3), and no field that the planner adds. */
export const RENAMED = '__client_';

/** Returns the key in fetches of a renamed alias. Keys that the planner makes from others (`<key>__alias_0`) end otherwise. */
export function toFetchKey(alias: string): string {
  return `${RENAMED}${alias}_`;
}

/** Whether a segment of a path is the key of a renamed alias. */
export function isRenamed(segment: string | number): boolean {
  return typeof segment === 'string' && segment.startsWith(RENAMED);
}

/** Returns the response key that the client sees. */
export function toResponseKey(key: string): string {
  return key.startsWith(RENAMED) ? key.slice(RENAMED.length, -1) : key;
}

/** Returns a path of the result as the client sees it. */
export function toResponsePath(path: readonly (string | number)[]): readonly (string | number)[] {
  return path.map((segment) => (typeof segment === 'string' ? toResponseKey(segment) : segment));
}
