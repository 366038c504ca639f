/** Batched look-ups: all keys that one request asks for in the same tick go into one statement. */
import DataLoader from 'dataloader';

/** One row for each key, or null where there is none. `load` runs one `WHERE … = ANY($1)` for all keys. */
export function createRowLoader<Row>(
  load: (keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): DataLoader<string, Row | null> {
  return new DataLoader(async (keys) => {
    const rows = new Map((await load(keys)).map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key) ?? null);
  });
}

/** All rows for each key, in the order in which `load` gave them. */
export function createGroupLoader<Row>(
  load: (keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): DataLoader<string, Row[]> {
  return new DataLoader(async (keys) => {
    const groups = new Map<string, Row[]>(keys.map((key) => [key, []]));
    for (const row of await load(keys)) groups.get(keyOf(row))?.push(row);
    return keys.map((key) => groups.get(key) ?? []);
  });
}

/**
 * One batched look-up for each distinct set of arguments: the same field with the same arguments on many parents is one statement.
 * `create` makes the loader for arguments that were not seen in this request.
 */
export function createLoadersByArguments<Args, V>(create: (args: Args) => DataLoader<string, V>): (args: Args) => DataLoader<string, V> {
  const loaders = new Map<string, DataLoader<string, V>>();
  return (args) => {
    const key = JSON.stringify(args);
    const loader = loaders.get(key) ?? create(args);
    loaders.set(key, loader);
    return loader;
  };
}
