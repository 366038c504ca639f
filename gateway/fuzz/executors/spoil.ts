/** Changes the responses of subgraphs: in ways that JSON allows, and in ways that no subgraph should. Equal responses are changed alike. */
import { hash } from '../random.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * `value` changes what a response says, `text` how it is written. Undefined returns nothing: no response is read. `entities` names the entities of the
 * response: executors request them in different orders.
 */
export interface Spoiler {
  readonly name: string;
  readonly value?: (value: Json, seed: string, entities: readonly string[]) => Json;
  readonly text?: (value: Json, seed: string) => string;
}

/** Returns a name for each entity that a request is for, whatever the order of the fields in its representations is. */
export function nameEntities({ variables }: { readonly variables?: Record<string, unknown> }): string[] {
  const { representations = [] } = (variables ?? {}) as { representations?: object[] };
  return representations.map((each) => JSON.stringify(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Names of spoilers that change how a response is written, and not what it says. */
export const STYLES: ReadonlySet<string> = new Set([
  'nothing',
  'extensions',
  'another order',
  'spaces',
  'a line feed',
  'escapes',
  'another member',
  'IDs as numbers',
]);

const RATE = 0.1;

/** Replaces leaves, but not the names of types: these are not requested by both executors. */
function replaceLeaves(replace: (leaf: Json, drawn: number) => Json): (value: Json, seed: string) => Json {
  const visit = (value: Json, path: string): Json => {
    if (Array.isArray(value)) return value.map((each, i) => visit(each, `${path}.${i}`));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(
        Object.entries(value).map(([key, each]) => [key, key === '__typename' ? each : visit(each, `${path}.${key}`)]),
      );
    const drawn = hash(path);
    return drawn < RATE ? replace(value, drawn / RATE) : value;
  };
  return (value, seed) => mapData(value, (data) => visit(data, seed));
}

/** Writes keys of entities as numbers where they are. GraphQL §3.5.5: a client gets them as strings. */
function writeIdsAsNumbers(value: Json): Json {
  if (Array.isArray(value)) return value.map(writeIdsAsNumbers);
  if (!isObject(value)) return value;
  const write = (key: string, each: Json) =>
    key === 'id' && typeof each === 'string' && /^[1-9]\d{0,8}$/.test(each) ? Number(each) : writeIdsAsNumbers(each);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, write(key, each)]));
}

function mapData(value: Json, change: (data: Json) => Json): Json {
  return isObject(value) && 'data' in value ? { ...value, data: change(value['data'] ?? null) } : value;
}

function mapEntities(change: (entities: Json[]) => Json[]): (value: Json) => Json {
  return (value) =>
    mapData(value, (data) => {
      const entities = isObject(data) ? data['_entities'] : undefined;
      return Array.isArray(entities) ? { ...(data as object), _entities: change(entities) } : data;
    });
}

function isObject(value: Json): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const OTHERS: readonly Json[] = [null, 3_000_000_000, 1.5, -0, '', 'UNKNOWN', true, [], {}, [null], ['"'], '\ud800', 1e21];

/** Adds a member that was not requested to each object. */
function addMember(value: Json): Json {
  if (Array.isArray(value)) return value.map(addMember);
  if (!isObject(value)) return value;
  return { ...Object.fromEntries(Object.entries(value).map(([key, each]) => [key, addMember(each)])), unrequested: 1 };
}

function reverse(value: Json): Json {
  if (Array.isArray(value)) return value.map(reverse);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, each]) => [key, reverse(each)]),
  );
}

/** Writes JSON with an escape for each character of each string that is a value. */
function writeEscaped(value: Json): string {
  if (typeof value === 'string') {
    const escapes = Array.from({ length: value.length }, (_, i) => `\\u${value.charCodeAt(i).toString(16).padStart(4, '0')}`);
    return `"${escapes.join('')}"`;
  }
  if (Array.isArray(value)) return `[${value.map(writeEscaped).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}:${key === '__typename' ? JSON.stringify(each) : writeEscaped(each)}`)
    .join(',')}}`;
}

interface JsonError {
  readonly message: string;
  readonly path: (string | number)[];
  readonly extensions: Record<string, Json>;
}

/** Whether a path is that of something that a subgraph was given, or does not resolve. */
function isKey(path: readonly (string | number)[]): boolean {
  const [top, , field] = path;
  return (
    path.at(-1) === '__typename' ||
    (top === '_entities' && (path.length < 2 || (path.length === 3 && (field === 'id' || field === 'code'))))
  );
}

/** Makes null of values, and reports an error for each: of leaves, and of whole objects. */
function failFields(rate: number): NonNullable<Spoiler['value']> {
  return (value, seed, entities) => {
    if (!isObject(value)) return value;
    const errors: JsonError[] = [];
    const visit = (each: Json, path: (string | number)[], at: string): Json => {
      const [top, index] = path;
      const place = path.length === 2 && top === '_entities' ? (entities[Number(index)] ?? '') : `${at}.${String(path.at(-1))}`;
      const drawn = hash(`${seed} fails ${place}`);
      if (path.length > 0 && !isKey(path) && drawn < rate) {
        const extensions = { code: drawn < rate / 2 ? 'NOT_FOUND' : 'FAILED', ...(drawn < rate / 8 && { masked: true }) };
        errors.push({ message: `no ${place}`, path, extensions });
        return null;
      }
      if (Array.isArray(each)) return each.map((element, i) => visit(element, [...path, i], place));
      if (!isObject(each)) return each;
      return Object.fromEntries(Object.entries(each).map(([key, member]) => [key, visit(member, [...path, key], place)]));
    };
    const data = visit(value['data'] ?? null, [], '');
    return errors.length > 0 ? { ...value, data, errors: errors as unknown as Json } : value;
  };
}

/** Makes null of entities, and reports an error for a share of them. */
function failEntities(share: number): NonNullable<Spoiler['value']> {
  return (value, seed, names) => {
    const errors: Json[] = [];
    const failing = mapEntities((entities) =>
      entities.map((each, i) => {
        const drawn = hash(`${seed} entity ${names[i] ?? ''}`);
        if (drawn < 0.3 * share)
          errors.push({ message: `no ${names[i] ?? ''}`, path: ['_entities', i], extensions: { code: 'NOT_FOUND' } });
        return drawn < 0.3 ? null : each;
      }),
    )(value);
    return isObject(failing) && errors.length > 0 ? { ...failing, errors } : failing;
  };
}

/** Paths that name nothing, or that no response has. */
const STRANGE_PATHS: readonly Json[] = [null, [], 'a', ['unknown'], ['_entities'], ['_entities', -1, 'x'], ['_entities', 99]];

/** Adds errors at such paths, before the data. */
function addStrangeErrors(value: Json, seed: string): Json {
  if (!isObject(value)) return value;
  const errors = STRANGE_PATHS.filter((_, i) => hash(`${seed} strange ${i}`) < 0.4).map((path) => ({ message: 'strange', path }));
  return { errors: [...errors, ...(errors.length === 0 ? [] : [null, 7])], ...value };
}

function failWhole(value: Json, seed: string): Json {
  const [key = ''] = isObject(value) && isObject(value['data'] ?? null) ? Object.keys(value['data'] as object).sort() : [];
  const drawn = hash(`${seed} whole`);
  const error = { message: 'nothing', ...(drawn < 0.5 && { path: [key] }), extensions: { code: 'NOT_FOUND' } };
  return drawn < 0.25 || drawn > 0.75 ? { errors: [error] } : { errors: [error], data: null };
}

function truncate(text: string, seed: string): string {
  return text.slice(0, Math.floor(hash(seed) * text.length));
}

export const SPOILERS: readonly Spoiler[] = [
  { name: 'nothing' },
  { name: 'nulls', value: replaceLeaves(() => null) },
  { name: 'other types', value: replaceLeaves((_, drawn) => OTHERS[Math.floor(drawn * OTHERS.length)] ?? null) },
  { name: 'an entity less', value: mapEntities((entities) => entities.slice(0, -1)) },
  { name: 'an entity more', value: mapEntities((entities) => [...entities, ...entities.slice(0, 1)]) },
  { name: 'null entities', value: failEntities(0) },
  {
    name: 'errors',
    value: (value) => (isObject(value) ? { ...value, errors: [{ message: 'spoiled', extensions: { code: 'SPOILED' } }] } : value),
  },
  { name: 'failing fields', value: failFields(0.08) },
  { name: 'many failing fields', value: failFields(0.3) },
  { name: 'failing entities', value: failEntities(0.7) },
  { name: 'strange errors', value: addStrangeErrors },
  { name: 'no data but errors', value: failWhole },
  { name: 'null data', value: (value) => mapData(value, () => null) },
  { name: 'extensions', value: (value) => (isObject(value) ? { ...value, extensions: { time: 1 } } : value) },
  { name: 'another order', value: reverse },
  { name: 'spaces', text: (value) => JSON.stringify(value, null, 1) },
  { name: 'a line feed', text: (value) => `${JSON.stringify(value)}\r\n` },
  { name: 'escapes', text: (value) => writeEscaped(value) },
  { name: 'truncation', text: (value, seed) => truncate(JSON.stringify(value), seed) },
  { name: 'more text', text: (value) => `${JSON.stringify(value)}}` },
  { name: 'another member', value: (value) => mapData(value, addMember) },
  { name: 'IDs as numbers', value: (value) => mapData(value, writeIdsAsNumbers) },
];
