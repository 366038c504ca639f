/** Puts files at the paths that the `map` of a multipart request names. No I/O. */
import { fail } from '@trestle/schema/errors';

/** The most files of one request. */
export const MAX_FILES = 10;
const MAX_PATHS = 50;
const MAX_PATH_CHARACTERS = 200;

/** The parameters of one operation, parsed. */
export type Operations = Record<string, unknown>;

/** Parses `operations`. Throws VALIDATION_ERROR for what is no JSON object; a batch cannot have files. */
export function parseOperations(text: string, parse: (text: string) => unknown = JSON.parse): Operations {
  const operations = parseAs('operations', text, parse);
  if (Array.isArray(operations)) throw fail('VALIDATION_ERROR', 'Batches cannot have files. Send one operation.');
  if (typeof operations !== 'object' || operations === null) throw fail('VALIDATION_ERROR', '`operations` must be a JSON object.');
  return operations as Operations;
}

/** Parses `map`: the paths of each file. Throws VALIDATION_ERROR. */
export function parseMap(text: string, parse: (text: string) => unknown = JSON.parse): ReadonlyMap<string, readonly string[]> {
  const map = parseAs('map', text, parse);
  if (typeof map !== 'object' || map === null || Array.isArray(map)) throw fail('VALIDATION_ERROR', '`map` must be a JSON object.');
  const entries = Object.entries(map as Record<string, unknown>);
  if (entries.length > MAX_FILES) throw fail('VALIDATION_ERROR', `The number of files exceeds the limit of ${String(MAX_FILES)}.`);
  const paths = entries.flatMap(([, value]) => value);
  const isValid = (path: unknown) => typeof path === 'string' && path.length <= MAX_PATH_CHARACTERS;
  if (entries.some(([, value]) => !Array.isArray(value)) || paths.length > MAX_PATHS || !paths.every(isValid))
    throw fail('VALIDATION_ERROR', '`map` must have a list of paths for each file, such as {"0": ["variables.file"]}.');
  return new Map(entries as [string, string[]][]);
}

/** Puts `create(name)` at each path of each file, once for each file. Throws VALIDATION_ERROR for a path whose value is not null. */
export function placeFiles(operations: Operations, map: ReadonlyMap<string, readonly string[]>, create: (name: string) => object): void {
  for (const [name, paths] of map) {
    const file = create(name);
    for (const path of paths) place(operations, path.split('.'), file);
  }
}

function place(operations: Operations, keys: readonly string[], file: object): void {
  const last = keys.at(-1) ?? '';
  let parent: unknown = operations;
  for (const key of keys.slice(0, -1)) parent = own(parent, key);
  if (keys[0] !== 'variables' || keys.length < 2 || own(parent, last) !== null)
    throw fail(
      'VALIDATION_ERROR',
      `\`map\` names the path ${JSON.stringify(keys.join('.'))}, which is not a variable with the value null.`,
    );
  (parent as Record<string, unknown>)[last] = file;
}

/** Returns an own property of an object or a list; undefined for anything else, such as `__proto__`. */
function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
}

function parseAs(name: string, text: string, parse: (text: string) => unknown): unknown {
  try {
    return parse(text);
  } catch {
    throw fail('VALIDATION_ERROR', `\`${name}\` is not valid JSON.`);
  }
}
