/** Merges the responses of incremental delivery (format with `pending` and `completed`) as a client does, and checks their order. */

type Path = readonly (string | number)[];
type Json = Record<string, unknown>;

export interface ClientError {
  readonly path?: Path;
}

/** One response, first or later. */
export interface Part {
  readonly data?: unknown;
  readonly errors?: readonly ClientError[];
  readonly pending?: readonly { readonly id: string; readonly path: Path; readonly label?: string }[];
  readonly incremental?: readonly { readonly id: string; readonly data: Json; readonly errors?: readonly ClientError[] }[];
  readonly completed?: readonly { readonly id: string; readonly errors?: readonly ClientError[] }[];
  readonly hasNext?: boolean;
}

/** A fragment without data: the path of its object, and its errors. */
export interface FailedFragment {
  readonly path: Path;
  readonly errors: readonly ClientError[];
}

export interface Merged {
  readonly data: unknown;
  readonly errors: readonly ClientError[];
  /** The fragments without data. */
  readonly failed: readonly FailedFragment[];
}

/** Throws when a response names what is not pending, an object that the client does not have, or only some of the fields of a fragment. */
export function mergeParts([first, ...later]: readonly Part[]): Merged {
  if (!first) throw new Error('There is no response');
  const data = structuredClone(first.data ?? null);
  const errors = [...(first.errors ?? [])];
  const failed: FailedFragment[] = [];
  const pending = new Map<string, Path>();
  /** The label and the object of what is pending, and the fields that were delivered of each. */
  const places = new Map<string, string>();
  const fields = new Map<string, string>();
  const add = ({ pending: added = [], hasNext }: Part, isLast: boolean) => {
    if ((hasNext ?? false) === isLast) throw new Error('hasNext is wrong');
    for (const { id, path, label } of added) {
      if (pending.has(id)) throw new Error(`${id} is pending already`);
      if (label !== undefined) places.set(id, JSON.stringify([label, path]));
      find(data, path);
      pending.set(id, path);
    }
  };
  const pathOf = (id: string) => {
    const path = pending.get(id);
    if (!path) throw new Error(`${id} is not pending`);
    return path;
  };
  add(first, later.length === 0);
  for (const [i, part] of later.entries()) {
    for (const each of part.incremental ?? []) {
      const place = places.get(each.id);
      const names = Object.keys(each.data).join(' ');
      // Fragments that select each other may have one fragment twice.
      if (place !== undefined && (fields.get(place) ?? names) !== names)
        throw new Error(`The fragment ${place} has the fields ${names}, and not ${fields.get(place) ?? ''}`);
      if (place !== undefined) fields.set(place, names);
      merge(find(data, pathOf(each.id)), each.data);
      errors.push(...(each.errors ?? []));
    }
    for (const { id, errors: own } of part.completed ?? []) {
      if (own) failed.push({ path: pathOf(id), errors: own });
      errors.push(...(own ?? []));
    }
    add(part, i === later.length - 1);
    for (const { id } of part.completed ?? []) pending.delete(id);
  }
  if (pending.size > 0) throw new Error('The last response leaves fragments pending');
  return { data, errors, failed };
}

function find(data: unknown, path: Path): Json {
  const found = path.reduce((at, key) => (at as Json | null | undefined)?.[key], data);
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw new Error(`No object at ${path.join('.')}`);
  return found as Json;
}

function merge(target: Json, source: Json): void {
  for (const [key, value] of Object.entries(source)) {
    const now = target[key];
    if (isObject(now) && isObject(value)) merge(now, value);
    else target[key] = value;
  }
}

/** Lists too: their items merge by index. */
function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns where the merged data differs from the data of the whole operation; undefined where it does not. The error of a fragment does not reach
 * what the client has: where a fragment has no data, its fields may be missing, and an object may be there that the whole result has as null, if an
 * error of the fragment is below the object.
 */
export function findDifference({ data, failed }: Merged, whole: unknown): string | undefined {
  const isFailed = (path: Path) => failed.some((each) => isWithin(path, each.path));
  const holdsFailed = (path: Path) =>
    failed.some((each) => isWithin(each.path, path) || each.errors.some((error) => isWithin(error.path ?? [], path)));
  const compare = (own: unknown, other: unknown, path: Path): string | undefined => {
    if (other === null && own !== null && isObject(own) && holdsFailed(path)) return undefined;
    if (!isObject(own) || !isObject(other))
      return own === other ? undefined : `${path.join('.')}: ${JSON.stringify(own)}, and not ${JSON.stringify(other)}`;
    const keys = new Set([...Object.keys(own), ...Object.keys(other)]);
    for (const key of keys) {
      const at = [...path, Array.isArray(other) ? Number(key) : key];
      if (!(key in own) && isFailed(path)) continue;
      const found = compare(own[key], other[key], at);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return compare(data, whole, []);
}

/** Whether a path is that of the object, or below it. */
function isWithin(path: Path, object: Path): boolean {
  return object.every((segment, i) => path[i] === segment);
}
