/** One fetch of entities: which to ask for, each only once, and where to put what comes back. */
import { merge, rename } from './merge.ts';
import type { Compiled, Data, FetchStep, Place, PlaceSegment } from '../program/program.ts';

export interface EntityBatch {
  /** JSON texts with commas between; empty when there is nothing to ask for. */
  readonly representations: string;
  /** Puts the answer's entities where they belong. Gives what is wrong with the answer, if anything. */
  merge(answer: Data): string | undefined;
  /** Where the entity that has this number in the batch stands in the answer. */
  placesOf(index: number, data: Data): (string | number)[][];
}

/** An object that holds no more than its type and key can make way for the fetched one. */
const STUB_KEYS = 2;

export interface EntitySource {
  readonly compiled: Compiled;
  readonly data: Data;
  readonly conditions: Readonly<Record<string, unknown>>;
}

export function entitiesOf(step: FetchStep, { compiled, data, conditions }: EntitySource): EntityBatch {
  const { represent, key, interfaces, areShared, decides } = step.entities as NonNullable<FetchStep['entities']>;
  const toText = compiled.represent[represent] as Compiled['represent'][number];
  const found: Data[] = [];
  const parents: (Data | unknown[])[] = [];
  const keys: (string | number)[] = [];
  compiled.collect[step.collect as number]?.(data, found, parents, keys);
  const numbers = new Map<unknown, number>();
  const at = new Int32Array(found.length);
  let representations = '';
  let count = 0;
  for (let i = 0; i < found.length; i++) {
    const entity = found[i] as Data;
    // Where objects of several types stand, another may have the same key.
    const identity = key === undefined ? toText(entity, conditions) : entity['__typename'] === key.type ? entity[key.name] : null;
    if (identity === null || identity === undefined) {
      at[i] = -1;
      continue;
    }
    const known = numbers.get(identity);
    if (known !== undefined) {
      at[i] = known;
      continue;
    }
    const text = key === undefined ? (identity as string) : toText(entity, conditions);
    if (text === null) {
      at[i] = -1;
      continue;
    }
    numbers.set(identity, count);
    at[i] = count;
    representations += count === 0 ? text : `,${text}`;
    count++;
  }

  let places: ReadonlyMap<number, (string | number)[][]> | undefined;
  return {
    representations,
    merge(answer) {
      const entities = answer['_entities'];
      if (!Array.isArray(entities) || entities.length !== count)
        return `The subgraph ${step.service} did not answer with as many entities as it was asked for`;
      for (const each of step.rewrites) rename(entities, each);
      const isPlaced = new Uint8Array(count);
      for (let i = 0; i < found.length; i++) {
        const number = at[i] as number;
        const entity = number < 0 ? null : (entities[number] as Data | null);
        // What stands there now: another fetch may have put its own object there meanwhile.
        const target = (parents[i] as Data)[keys[i] as string] as Data | null;
        // Its owner has said that there is none.
        if (target === null) continue;
        if (number >= 0 && entity === null && decides.includes(target['__typename'] as string))
          (parents[i] as Data)[keys[i] as string] = null;
        if (typeof entity !== 'object' || entity === null || entity === target) continue;
        keepType(entity, target, interfaces);
        if (!areShared) merge(target, isPlaced[number] === 1 ? structuredClone(entity) : entity);
        else if (key !== undefined && isStub(target))
          place(entity, { target, parent: parents[i], key: keys[i], isShared: isPlaced[number] === 1 });
        else merge(target, entity);
        isPlaced[number] = 1;
      }
      return undefined;
    },
    placesOf: (index, tree) => {
      places ??= groupPlaces(
        step.places.flatMap((place) => placesOf(place, tree)),
        at,
      );
      return places.get(index) ?? [];
    },
  };
}

/** Places by the number of the entity; none where the result has changed since, so that they can't be told apart. */
function groupPlaces(places: readonly (string | number)[][], numbers: Int32Array): Map<number, (string | number)[][]> {
  const groups = new Map<number, (string | number)[][]>();
  if (places.length !== numbers.length) return groups;
  for (const [i, place] of places.entries()) {
    const number = numbers[i] as number;
    const group = groups.get(number);
    if (group) group.push(place);
    else groups.set(number, [place]);
  }
  return groups;
}

/** A subgraph that knows an entity by an interface alone (`@interfaceObject`) must not overwrite what it is. */
function keepType(entity: Data, target: Data, interfaces: readonly string[]): void {
  const type = entity['__typename'];
  if (type === undefined || (interfaces.includes(type as string) && target['__typename'] !== undefined))
    entity['__typename'] = target['__typename'];
}

interface Placement {
  readonly target: Data;
  readonly parent: Data | unknown[] | undefined;
  readonly key: string | number | undefined;
  /** Whether it stands somewhere else already. */
  readonly isShared: boolean;
}

/** Puts the fetched object in the place of its stub. Equal references then share one object, whose bytes are written once. */
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

/** Where each object at a place stands, in the order in which the generated collector finds them. */
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

/** Whether an object has one of the types that a place demands; where its type is not known it may have. */
function isOf(value: unknown, segment: PlaceSegment | undefined): boolean {
  const type = segment?.types && (value as Data)['__typename'];
  return type === undefined || (segment?.types?.includes(type as string) ?? true);
}
