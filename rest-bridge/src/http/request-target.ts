/** The target of a request, and targets that differ from it in their parameters. No I/O. */

/** The target of a request (RFC 9112 §3.2), split as routes need it. */
export interface RequestTarget {
  /** The version prefix as the client wrote it, e.g. `/api/v1`; empty for an unversioned path. */
  readonly prefix: string;
  /** The path after the prefix. */
  readonly path: string;
  readonly search: URLSearchParams;
}

/** Returns the target with the parameters named in `removed` deleted and those of `parameters` set; other parameters stay. */
export function toTargetWith(
  { prefix, path, search }: RequestTarget,
  parameters: Readonly<Record<string, string | number>>,
  removed: readonly string[],
): string {
  const query = new URLSearchParams(search);
  for (const name of removed) query.delete(name);
  for (const [name, value] of Object.entries(parameters)) query.set(name, String(value));
  return `${prefix}${path}${query.size > 0 ? `?${query.toString()}` : ''}`;
}
