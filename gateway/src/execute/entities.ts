/** One fetch of entities: collects the representations, each once, and merges the results into their places. */
import {
  type Compiled,
  type Data,
  type EntityFetch,
  type FetchStep,
  type Place,
  type PlaceSegment,
  type Represent,
  UNSAFE_ID,
} from '../program/program.ts';
import { merge, rename } from './merge.ts';

export interface EntityBatch {
  /** Representations as JSON, separated by commas; empty when no entity is to be fetched. */
  readonly representations: string;
  /** Whether an entity is not fetched because a subgraph sent its ID as a number that JSON.parse may have changed. */
  readonly hasUnsafeIds: boolean;
  /** Merges the entities of a result into their places. Returns what is wrong with the result, if anything. */
  merge(result: Data): string | undefined;
  /** Returns the paths of the entity with this index in the batch. */
  placesOf(index: number, data: Data): (string | number)[][];
}

/** An object with no more than its type and key can be replaced by the fetched one. */
const STUB_KEYS = 2;

export interface EntitySource {
  readonly compiled: Compiled;
  readonly data: Data;
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The names of interfaces, where other fetches of the same entities may be in flight. */
  readonly interfaces?: readonly string[] | undefined;
}

/** Collects the entities of a step from the data so far. */
export function collectEntities(step: FetchStep, source: EntitySource): EntityBatch {
  const { compiled, data, interfaces } = source;
  const found: FoundEntities = { entities: [], parents: [], keys: [], ends: [] };
  for (const each of step.collectors) {
    compiled.collect[each]?.(data, found.entities, found.parents, found.keys);
    found.ends.push(found.entities.length);
  }
  const { representations, hasUnsafeIds, indexes, count } = writeRepresentations(step, found.entities, source);
  let places: ReadonlyMap<number, (string | number)[][]> | undefined;
  return {
    representations,
    hasUnsafeIds,
    merge(result) {
      const entities = result['_entities'];
      if (!Array.isArray(entities) || entities.length !== count)
        return `The subgraph ${step.service} did not return one entity for each representation.`;
      for (const each of step.rewrites) rename(entities, each);
      mergeEntities(step, { entities: entities as (Data | null)[], found, indexes, interfaces });
      return undefined;
    },
    placesOf: (index, tree) => {
      places ??= groupPlaces(
        step.places.flatMap((place) => placesOf(place, tree)),
        indexes,
      );
      return places.get(index) ?? [];
    },
  };
}

/** Entities in the data, with the parent and key of each. */
export interface FoundEntities {
  readonly entities: Data[];
  readonly parents: (Data | unknown[])[];
  readonly keys: (string | number)[];
  /** How many entities there are up to the end of each path. */
  readonly ends: number[];
}

interface Representations {
  readonly representations: string;
  readonly hasUnsafeIds: boolean;
  /** The index in the batch of each entity that was found; -1 for one that cannot be fetched. */
  readonly indexes: Int32Array;
  readonly count: number;
}

/** Writes the representation of each entity once. */
function writeRepresentations(step: FetchStep, found: readonly Data[], { compiled, conditions }: EntitySource): Representations {
  const { represent, key } = step.entities as EntityFetch;
  const write = compiled.represent[represent] as Represent;
  const known = new Map<unknown, number>();
  const indexes = new Int32Array(found.length);
  let representations = '';
  let hasUnsafeIds = false;
  let count = 0;
  for (let i = 0; i < found.length; i++) {
    const entity = found[i] as Data;
    // Objects of different types may have the same key.
    const value = key === undefined ? write(entity, conditions) : entity['__typename'] === key.type ? entity[key.name] : null;
    // An ID may be a number here and a string there.
    const identity = typeof value === 'number' ? String(value) : value;
    const index = identity === null || identity === undefined ? -1 : known.get(identity);
    if (index !== undefined) {
      indexes[i] = index;
      continue;
    }
    const text = key === undefined ? (identity as string) : write(entity, conditions);
    if (text === null || text === UNSAFE_ID) {
      hasUnsafeIds ||= text === UNSAFE_ID;
      indexes[i] = -1;
      continue;
    }
    known.set(identity, count);
    indexes[i] = count;
    representations += count === 0 ? text : `,${text}`;
    count++;
  }
  return { representations, hasUnsafeIds, indexes, count };
}

export interface FetchedEntities {
  readonly entities: readonly (Data | null)[];
  readonly found: FoundEntities;
  readonly indexes: Int32Array;
  readonly interfaces?: readonly string[] | undefined;
}

/** Merges the fetched entities into each of their places. Objects at different paths are never shared: other fetches give them other fields. */
export function mergeEntities(step: FetchStep, fetched: FetchedEntities): void {
  const { ends } = fetched.found;
  if (ends.length === 1) {
    mergeRange(step, fetched, 0);
    return;
  }
  const lastPaths = findLastPaths(fetched);
  ends.forEach((_, path) => {
    const entities = fetched.entities.map((entity, i) => ((lastPaths[i] as number) > path ? (copy(entity) as Data | null) : entity));
    mergeRange(step, { ...fetched, entities }, path);
  });
}

/** Returns for each entity the last path that it is needed at. */
function findLastPaths({ entities, found: { ends }, indexes }: FetchedEntities): Int32Array {
  const last = new Int32Array(entities.length);
  let path = 0;
  for (let i = 0; i < indexes.length; i++) {
    while (i >= (ends[path] as number)) path++;
    const index = indexes[i] as number;
    if (index >= 0) last[index] = path;
  }
  return last;
}

/** Copies JSON values. `structuredClone` takes several times as long. */
function copy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copy);
  const copied: Data = {};
  for (const key of Object.keys(value)) {
    const inner = copy((value as Data)[key]);
    if (key === '__proto__') Object.defineProperty(copied, key, { value: inner, writable: true, enumerable: true, configurable: true });
    else copied[key] = inner;
  }
  return copied;
}

/** Merges entities into the places of one path. */
function mergeRange(step: FetchStep, { entities, found, indexes, interfaces: merged }: FetchedEntities, path: number): void {
  const { key, interfaces, areShared, decides } = step.entities as EntityFetch;
  const { parents, keys, ends } = found;
  const isPlaced = new Uint8Array(entities.length);
  for (let i = path === 0 ? 0 : (ends[path - 1] as number), end = ends[path] as number; i < end; i++) {
    const index = indexes[i] as number;
    const entity = index < 0 ? null : (entities[index] as Data | null);
    // The object at this place now: another fetch may have replaced it meanwhile.
    const target = (parents[i] as Data)[keys[i] as string] as Data | null;
    // The subgraph that decides returned null.
    if (target === null) continue;
    if (index >= 0 && entity === null && decides.includes(target['__typename'] as string)) (parents[i] as Data)[keys[i] as string] = null;
    if (typeof entity !== 'object' || entity === null || entity === target) continue;
    keepType(entity, target, interfaces);
    if (!areShared) merge(target, isPlaced[index] === 1 ? structuredClone(entity) : entity, merged);
    else if (key !== undefined && isStub(target))
      place(entity, { target, parent: parents[i], key: keys[i], isShared: isPlaced[index] === 1 });
    else merge(target, entity);
    isPlaced[index] = 1;
  }
}

/**
 * Groups the paths by the index of the entity; those that were not fetched have none. Returns none when the data has changed since, so that they no
 * longer correspond.
 */
export function groupPlaces(places: readonly (string | number)[][], numbers: Int32Array): Map<number, (string | number)[][]> {
  const groups = new Map<number, (string | number)[][]>();
  if (places.length !== numbers.length) return groups;
  for (const [i, place] of places.entries()) {
    const number = numbers[i] as number;
    // A subgraph may send an error with such an index.
    if (number < 0) continue;
    const group = groups.get(number);
    if (group) group.push(place);
    else groups.set(number, [place]);
  }
  return groups;
}

/** Keeps the type of an entity when a subgraph only knows its interface (`@interfaceObject`). */
function keepType(entity: Data, target: Data, interfaces: readonly string[]): void {
  const type = entity['__typename'];
  if (type === undefined || (interfaces.includes(type as string) && target['__typename'] !== undefined))
    entity['__typename'] = target['__typename'];
}

interface Placement {
  readonly target: Data;
  readonly parent: Data | unknown[] | undefined;
  readonly key: string | number | undefined;
  /** Whether another place has it already. */
  readonly isShared: boolean;
}

/** Replaces a stub by the fetched object. Equal references then share one object, which is written once. */
function place(entity: Data, { target, parent, key, isShared }: Placement): void {
  for (const name in target) if (entity[name] === undefined) entity[name] = target[name];
  if (isShared) entity['$n'] = 1;
  (parent as Data)[key as string] = entity;
}

function isStub(target: Data): boolean {
  let count = 0;
  for (const name in target) if (Object.hasOwn(target, name) && ++count > STUB_KEYS) return false;
  return true;
}

/** Returns the path of each object at a place, in the order of the generated collector. */
export function placesOf(place: Place, data: Data): (string | number)[][] {
  const found: (string | number)[][] = [];
  const walk = (value: unknown, depth: number, at: (string | number)[]) => {
    if (value === null || value === undefined || !isOf(value, place[depth - 1])) return;
    const segment = place[depth];
    if (segment === undefined) {
      if (typeof value === 'object' && !Array.isArray(value)) found.push(at);
    } else if (segment.key === '@') {
      if (Array.isArray(value))
        value.forEach((each, i) => {
          walk(each, depth + 1, [...at, i]);
        });
    } else if (typeof value === 'object' && Object.hasOwn(value, segment.key))
      walk((value as Data)[segment.key], depth + 1, [...at, segment.key]);
  };
  walk(data, 0, []);
  return found;
}

/** Returns whether an object may have one of the types that a place demands. */
export function isOf(value: unknown, segment: PlaceSegment | undefined): boolean {
  const type = segment?.types && (value as Data)['__typename'];
  return type === undefined || (segment?.types?.includes(type as string) ?? true);
}
