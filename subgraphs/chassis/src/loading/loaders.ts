/** DataLoaders: all keys that one request loads in the same tick go into one statement. */
import DataLoader from 'dataloader';

/** How many rows a key has. */
export interface Total {
  readonly key: string;
  readonly count: number;
}

/** Creates a loader of one row for each key, or null where there is none. `load` runs one `WHERE … = ANY($1)` for all keys. */
export function createRowLoader<Row>(
  load: (keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): DataLoader<string, Row | null> {
  return new DataLoader(async (keys) => {
    const rows = new Map((await load(keys)).map((row) => [keyOf(row), row]));
    return keys.map((key) => rows.get(key) ?? null);
  });
}

/** Creates a loader of all rows for each key, in the order in which `load` returned them. */
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

/** Creates a loader of the number of rows for each key; a key that `count` does not return has none. */
export function createTotalLoader(count: (keys: readonly string[]) => Promise<readonly Total[]>): DataLoader<string, number> {
  return new DataLoader(async (keys) => {
    const totals = new Map((await count(keys)).map((total) => [total.key, total.count]));
    return keys.map((key) => totals.get(key) ?? 0);
  });
}

/**
 * Returns a function from arguments to a loader: the same field with the same arguments on many parents is one statement.
 * `create` creates the loader for arguments that this request has not used yet.
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
