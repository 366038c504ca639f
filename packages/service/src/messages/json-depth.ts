/** How deep JSON is nested. No I/O. */

/** Returns whether objects and lists are nested more than `limit` levels deep. Recurses at most `limit` times. */
export function isDeeperThan(value: unknown, limit: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (limit === 0) return true;
  if (Array.isArray(value)) return value.some((each) => isDeeperThan(each, limit - 1));
  for (const name in value) if (isDeeperThan((value as Readonly<Record<string, unknown>>)[name], limit - 1)) return true;
  return false;
}
