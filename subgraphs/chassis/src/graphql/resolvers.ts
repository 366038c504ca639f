/** Merges the resolvers of a subgraph's folders into one map. No I/O. */

type Fields = Readonly<Record<string, unknown>>;

/** Merges resolver maps type by type. Throws at start when two of them resolve the same field. */
export function mergeResolvers(...maps: readonly object[]): Record<string, unknown> {
  const merged: Record<string, unknown> = {};
  for (const [type, fields] of maps.flatMap((map) => Object.entries(map) as [string, Fields][])) {
    const before = merged[type] as Fields | undefined;
    const twice = Object.keys(before ?? {}).find((field) => Object.hasOwn(fields, field));
    if (twice !== undefined) throw new Error(`Two folders have a resolver for ${type}.${twice}.`);
    merged[type] = before ? { ...before, ...fields } : fields;
  }
  return merged;
}
