/**
 * A fetch of entities with contextual arguments (`@fromContext`): collects the representations by the values of the objects above them. One request
 * has several groups of equal values, each with a field `_entities` of its own; a subgraph gets no more requests than there are such sets of groups.
 */
import type { ContextFetch, ContextVariable } from '../program/context-fetch.ts';
import type { RenameSegment } from '../program/key-rename.ts';
import { type Data, type FetchStep, type Place, type Represent, UNSAFE_ID } from '../program/program.ts';
import { type EntityBatch, type EntitySource, type FoundEntities, groupPlaces, isOf, mergeEntities, placesOf } from './entities.ts';
import { rename } from './merge.ts';

/** The most groups in one request: subgraphs limit the fields and the length of a document. */
const MAX_GROUPS = 20;

/** A batch with its request body. */
export interface WrittenBatch extends Pick<EntityBatch, 'merge' | 'placesOf'> {
  readonly body: string;
  /** Undefined for a batch that is not to be found among fetches that were sent before. */
  readonly representations?: string;
  /** Returns the errors of the response with the paths of a response that has one list `_entities`. */
  readonly toEntityErrors?: (errors: readonly unknown[]) => readonly unknown[];
}

/** Entities with equal values of all contextual arguments. */
interface Group {
  /** As JSON, in the order of the variables. */
  readonly values: readonly string[];
  readonly representations: string[];
  readonly known: Map<string, number>;
}

interface FoundInContexts extends FoundEntities {
  /** The group of each entity, and its index there; undefined for one that cannot be fetched. */
  readonly members: ({ readonly group: Group; readonly index: number } | undefined)[];
}

/** Collects the entities of a step from the data so far. `variables` are the other variables of the step, as members of a JSON object. */
export function collectInContexts(step: FetchStep, source: EntitySource, variables: string): WrittenBatch[] {
  const contexts = step.contexts as ContextFetch;
  const { found, groups } = findGroups(step, contexts, source);
  const batches: WrittenBatch[] = [];
  for (let i = 0; i < groups.length; i += MAX_GROUPS)
    batches.push(toBatch(step, { contexts, found, variables, groups: groups.slice(i, i + MAX_GROUPS) }));
  return batches;
}

function findGroups(
  step: FetchStep,
  { variables }: ContextFetch,
  { compiled, data, conditions }: EntitySource,
): { found: FoundInContexts; groups: Group[] } {
  const write = compiled.represent[step.entities?.represent ?? 0] as Represent;
  const found: FoundInContexts = { entities: [], parents: [], keys: [], ends: [], members: [] };
  const groups = new Map<string, Group>();
  const add = (entity: Data, above: readonly Data[]) => {
    const values = readValues(variables, { entity, above, conditions });
    const representation = values && write(entity, conditions);
    if (!values || representation === null || representation === undefined || representation === UNSAFE_ID) return undefined;
    const key = values.join('\n');
    const group = groups.get(key) ?? { values, representations: [], known: new Map<string, number>() };
    groups.set(key, group);
    const index = group.known.get(representation) ?? group.representations.push(representation) - 1;
    group.known.set(representation, index);
    return { group, index };
  };
  for (const place of step.places)
    eachEntity(place, data, ({ entity, parent, key, above }) => {
      found.entities.push(entity);
      found.parents.push(parent);
      found.keys.push(key);
      found.members.push(add(entity, above));
    });
  found.ends.push(found.entities.length);
  return { found, groups: [...groups.values()] };
}

interface LocatedEntity {
  readonly entity: Data;
  readonly parent: Data | unknown[];
  readonly key: string | number;
  /** The objects around it, the outermost first. */
  readonly above: readonly Data[];
}

/** Calls `use` for each object at a place, in the order of `placesOf`. */
function eachEntity(place: Place, data: Data, use: (located: LocatedEntity) => void): void {
  const above: Data[] = [];
  const walk = (value: unknown, depth: number, at: { parent: Data | unknown[]; key: string | number }) => {
    if (value === null || value === undefined || !isOf(value, place[depth - 1])) return;
    const segment = place[depth];
    if (segment === undefined) {
      if (typeof value === 'object' && !Array.isArray(value)) use({ entity: value as Data, ...at, above });
    } else if (segment.key === '@') {
      if (Array.isArray(value))
        value.forEach((each, key) => {
          walk(each, depth + 1, { parent: value, key });
        });
    } else if (typeof value === 'object' && Object.hasOwn(value, segment.key)) {
      above.push(value as Data);
      walk((value as Data)[segment.key], depth + 1, { parent: value as Data, key: segment.key });
      above.pop();
    }
  };
  walk(data, 0, { parent: data, key: '' });
}

interface ValueSource extends Pick<LocatedEntity, 'entity' | 'above'>, Pick<EntitySource, 'conditions'> {}

/** Returns whether a field that is fetched for the entity has the variable. One that cannot be null is needed by the document itself. */
function isUsed({ isNonNull, uses }: ContextVariable, { entity, conditions }: ValueSource): boolean {
  if (isNonNull) return true;
  const type = entity['__typename'] as string | undefined;
  return uses.some(
    (use) =>
      (type === undefined || use.types === undefined || use.types.includes(type)) &&
      use.conditions.every(({ variable, isIncluded }) => (conditions[variable] === true) === isIncluded),
  );
}

/** Returns the values as JSON; undefined when one that is used was not fetched, or is null where it must not be. */
function readValues(variables: readonly ContextVariable[], source: ValueSource): string[] | undefined {
  const { entity, above } = source;
  const texts: string[] = [];
  for (const variable of variables) {
    if (!isUsed(variable, source)) {
      texts.push('null');
      continue;
    }
    // An object of a type that no condition names has no value (the composition demands an argument that may be null then).
    let value: unknown = null;
    for (const { up, path } of variable.sources) {
      const object = up === 0 ? entity : above.at(-up);
      const read = readPath(object, path, 0);
      if (read === OTHER_TYPE) continue;
      value = read;
      break;
    }
    if (value === undefined || (value === null && variable.isNonNull)) return undefined;
    texts.push(JSON.stringify(value));
  }
  return texts;
}

const OTHER_TYPE = Symbol('an object of another type');

/** Returns the value at a path; undefined when it was not fetched, a list for a path through a list. */
function readPath(value: unknown, path: readonly RenameSegment[], depth: number): unknown {
  const segment = path[depth];
  if (segment === undefined || value === null || value === undefined) return value;
  if (Array.isArray(value)) {
    const values = value.map((each) => readPath(each, path, depth));
    return values.includes(undefined) ? undefined : values;
  }
  if (typeof value !== 'object') return undefined;
  if ('key' in segment) return readPath(Object.hasOwn(value, segment.key) ? (value as Data)[segment.key] : undefined, path, depth + 1);
  const type = (value as Data)['__typename'];
  return type === undefined || segment.types.includes(type as string) ? readPath(value, path, depth + 1) : OTHER_TYPE;
}

interface BatchSource {
  readonly contexts: ContextFetch;
  readonly found: FoundInContexts;
  readonly variables: string;
  readonly groups: readonly Group[];
}

function toBatch(step: FetchStep, { contexts, found, variables, groups }: BatchSource): WrittenBatch {
  const offsets = new Map<Group, number>();
  let count = 0;
  for (const group of groups) {
    offsets.set(group, count);
    count += group.representations.length;
  }
  const indexes = Int32Array.from(found.members, (member) => {
    const offset = member ? offsets.get(member.group) : undefined;
    return member && offset !== undefined ? offset + member.index : -1;
  });
  const starts = [...offsets.values()];
  const isSingle = groups.length === 1;
  return {
    body: isSingle ? writeSingle(step, { contexts, groups, variables }) : writeSeveral(step, { contexts, groups, variables }),
    merge(result) {
      const lists = isSingle ? [result['_entities']] : groups.map((_, i) => result[`_${String(i)}`]);
      if (!lists.every((each, i) => Array.isArray(each) && each.length === groups[i]?.representations.length))
        return `The subgraph ${step.service} did not return one entity for each representation.`;
      const entities = lists.flat() as (Data | null)[];
      for (const each of step.rewrites) rename(entities, each);
      mergeEntities(step, { entities, found, indexes });
      return undefined;
    },
    placesOf: (() => {
      let places: ReadonlyMap<number, (string | number)[][]> | undefined;
      return (index: number, tree: Data) => {
        places ??= groupPlaces(
          step.places.flatMap((place) => placesOf(place, tree)),
          indexes,
        );
        return places.get(index) ?? [];
      };
    })(),
    ...(!isSingle && { toEntityErrors: (errors) => errors.map((error) => toEntityError(error, starts)) }),
  };
}

type Writing = Pick<BatchSource, 'contexts' | 'groups' | 'variables'>;

function writeSingle(step: FetchStep, { contexts, groups, variables }: Writing): string {
  const [group] = groups as readonly [Group];
  return `${step.prefix}${variables}${variables && ','}${writeValues(contexts, group, '')}}}`;
}

function writeSeveral({ operationName }: FetchStep, { contexts, groups, variables }: Writing): string {
  const { start, definitions, middle, entities } = contexts;
  const forAll = (texts: readonly string[]) => groups.map((_, i) => texts.join(String(i))).join(' ');
  const query = JSON.stringify(`${start}${forAll(definitions)}${middle}${forAll(entities)}}`);
  const name = operationName === undefined ? '' : `"operationName":${JSON.stringify(operationName)},`;
  const values = groups.map((group, i) => writeValues(contexts, group, `_${String(i)}`)).join();
  return `{"query":${query},${name}"variables":{${variables}${variables && ','}${values}}}`;
}

function writeValues(contexts: ContextFetch, { values, representations }: Group, suffix: string): string {
  const own = contexts.variables.map(({ name }, i) => `"${name}${suffix}":${values[i] ?? 'null'},`).join('');
  return `${own}"representations${suffix}":[${representations.join()}]`;
}

/** Returns an error of a field `_1` with the path it would have if all groups were one list. */
function toEntityError(error: unknown, starts: readonly number[]): unknown {
  const { path } = (error ?? {}) as { path?: unknown };
  if (!Array.isArray(path)) return error;
  const [field, index, ...rest] = path as unknown[];
  const start = typeof field === 'string' && /^_\d+$/.test(field) ? starts[Number(field.slice(1))] : undefined;
  if (start === undefined || typeof index !== 'number') return error;
  return { ...(error as object), path: ['_entities', start + index, ...rest] };
}
