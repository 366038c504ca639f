/**
 * Arranges the fields of all fetches in the order of the client's response (GraphQL §6.3.2): decides which fetch provides each field, where the
 * fields of one fetch interrupt those of another, and what is requested but not part of the response.
 */
import { type GraphQLObjectType, type GraphQLSchema, isListType, isNonNullType, isObjectType, print } from 'graphql';
import { type Hole, HOLE_WORDS, type KnownTypeSegment } from '../../program/bytes-program.ts';
import type { PlaceSegment } from '../../program/program.ts';
import { type FieldPosition, inOrder } from '../selections/field-positions.ts';
import type { GuardedSet, Selections } from '../selections/selection.ts';
import { type PathSegment, describeFields } from './absent-fields.ts';
import type { RequestedFetch, RequestedTop } from './requested-fetch.ts';
import { type RequestedField, type RequestedItem, type RequestedObject, Unsupported, toConjunction } from './requested-object.ts';
import { ObjectHoles } from './object-holes.ts';

/** A place in the response. */
interface Place {
  readonly type: GraphQLObjectType;
  /** What the client selects there. */
  readonly sets: readonly GuardedSet[];
  readonly path: readonly PathSegment[];
}

/** Where the objects of a place stand in the response of a fetch. */
interface Origin {
  readonly fetch: RequestedFetch;
  readonly path: readonly KnownTypeSegment[];
  readonly isCase: boolean;
  /** The length of the path in the result to the top of the fetch's response. */
  readonly top: number;
}

/** Fields that follow each other in the client's response and come from one fetch: from that of the object, or from one of its entity. */
interface Run {
  readonly fetch: RequestedFetch | undefined;
  readonly positions: FieldPosition[];
}

/** What is taken from the top of a fetch at one place: the client's fields, and the keys of other fetches. */
interface TopUses {
  readonly runs: readonly Run[];
  readonly requirers: readonly RequestedFetch[];
}

export interface ArrangementInput {
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  readonly root: GraphQLObjectType;
  readonly sets: readonly GuardedSet[];
  readonly selections: Selections;
  readonly fetches: readonly RequestedFetch[];
}

export class Arrangement {
  readonly holes: Hole[] = [];
  readonly rootHoles: number[] = [];
  readonly #input: ArrangementInput;

  constructor(input: ArrangementInput) {
    this.#input = input;
  }

  /** Arranges all fetches, from the root of the response down. Throws Unsupported. */
  arrange(): void {
    const { root: type, sets, fetches } = this.#input;
    const place = { type, sets, path: [] };
    const atRoot = fetches.filter(({ source }) => !source.step.entities);
    const runs = attachTypeNames(this.#runsAt(place, undefined, atRoot));
    for (const fetch of atRoot) this.#arrangeTop(fetch, place, { runs, requirers: [] });
    for (const { fetch, part, positions } of numberParts(runs))
      if (fetch) this.rootHoles.push(this.#addRootHole(fetch, part, { positions, others: atRoot }));
    for (const { tops } of fetches)
      for (const { signature } of tops) if (signature === undefined) throw new Unsupported('a fetch that the response does not need');
  }

  /** Returns the client's fields at a place in their order, by the fetch that they come from. */
  #runsAt(place: Place, own: RequestedObject | undefined, others: readonly RequestedFetch[]): Run[] {
    const runs: Run[] = [];
    for (const position of inOrder(this.#input.selections.collect(place.type, place.sets))) {
      if (position.flag !== undefined) throw new Unsupported('the order depends on conditions');
      const fetch = position.field.name === '__typename' ? undefined : this.#sourceOf(position, own, others);
      const last = runs.at(-1);
      if (last && last.fetch === fetch) last.positions.push(position);
      else runs.push({ fetch, positions: [position] });
    }
    return runs;
  }

  /** Returns the fetch that provides a field; undefined for that of the object itself. Throws Unsupported. */
  #sourceOf(
    { field: { key, name, sets, type } }: FieldPosition,
    own: RequestedObject | undefined,
    others: readonly RequestedFetch[],
  ): RequestedFetch | undefined {
    if (type === undefined) throw new Unsupported('introspection');
    const provides = (object: RequestedObject | undefined) => object?.fields.get(key)?.name === name;
    const sources = others.filter(({ tops }) =>
      tops.some(({ object }) => provides(object) && (!own || object.type.name === own.type.name)),
    );
    const isOwn = provides(own);
    if (sources.length + Number(isOwn) === 0) throw new Unsupported('a field from an unknown fetch');
    if (sets.length > 0 && sources.length + Number(isOwn) > 1) throw new Unsupported('an object from two fetches');
    return isOwn ? undefined : sources[0];
  }

  /** Arranges the top of a fetch, whose fields are those of its runs. It is the same at each of its places. */
  #arrangeTop(fetch: RequestedFetch, place: Place, { runs, requirers }: TopUses): void {
    const parts = runs.filter((run) => run.fetch === fetch).map(({ positions }) => positions);
    const top = fetch.tops.find(({ object }) => object.type.name === place.type.name) as RequestedTop;
    const signature = JSON.stringify([requirers.map(({ index }) => index), parts.map((part) => part.map(describe))]);
    const isKnown = top.signature !== undefined;
    if (isKnown && top.signature !== signature) throw new Unsupported('an entity with different fields at two places');
    if (fetch.tops.some((other) => other.signature !== undefined) && fetch.parts !== Math.max(1, parts.length))
      throw new Unsupported('types with different parts');
    if (isKnown) return;
    top.signature = signature;
    // A fetch may be there for what other fetches require only.
    fetch.parts = Math.max(1, parts.length);
    const isCase = fetch.tops.length > 1;
    const path = fetch.source.step.entities ? [{ key: '_entities' }] : [];
    const origin = { fetch, path, isCase, top: place.path.length };
    const items = parts.flatMap((part, i): RequestedItem[] => [
      ...(i > 0 ? [{ kind: 'part' } as const] : []),
      ...part.map((position) => this.#keep(position, top.object, { place, origin })),
    ]);
    this.#setItems(top.object, items, origin);
    top.object.items = [...Array.from(top.keys.values(), ({ item }) => item), ...top.object.items];
  }

  /** Arranges the objects at a place that stand in the response of a fetch. */
  #arrangeObject(requested: RequestedObject, place: Place, origin: Origin): void {
    const others = this.#input.fetches.filter((fetch) => isAt(fetch, place));
    const runs = this.#runsAt(place, requested, others);
    const path = place.path.slice(origin.top);
    const holes = new ObjectHoles({ object: requested, owner: origin.fetch, others, table: this.holes, path });
    const items = numberParts(runs).flatMap(({ fetch, part, positions }): RequestedItem[] => {
      if (!fetch) return positions.map((position) => this.#keep(position, requested, { place, origin }));
      return [holes.add(fetch, part, positions)];
    });
    this.#setItems(requested, items, origin);
    requested.items = [...holes.keys, ...requested.items];
    for (const { fetch, requirers } of holes.fetches) this.#arrangeTop(fetch, place, { runs, requirers });
  }

  /** Keeps a field of the object itself, and arranges the objects below it. */
  #keep({ field, when }: FieldPosition, requested: RequestedObject, { place, origin }: { place: Place; origin: Origin }): RequestedItem {
    const keptWhen = toConjunction(when);
    const own = requested.fields.get(field.key);
    if (field.name === '__typename' && (!own || (own.key === '__typename' && origin.isCase)))
      return { kind: 'typename', key: field.key, keptWhen };
    if (own?.name !== field.name) throw new Unsupported('a field from an unknown fetch');
    own.type = field.type;
    own.cases = this.#visibleCases(own);
    for (const each of own.cases) this.#arrangeCase(own, each, { field, place, origin });
    return { kind: 'field', field: own, isKept: true, keptWhen, selected: field };
  }

  /** Clients cannot see the other types: a response with such an object is left to the object executor, which reports its type. */
  #visibleCases({ cases }: RequestedField): readonly RequestedObject[] {
    const visible = cases.filter(({ type }) => isObjectType(this.#input.schema.getType(type.name)));
    if (visible.length === 0 && cases.length > 0) throw new Unsupported('an abstract type without visible types');
    return visible;
  }

  #arrangeCase(
    own: RequestedField,
    requested: RequestedObject,
    { field, place, origin }: { field: FieldPosition['field']; place: Place; origin: Origin },
  ): void {
    const type = this.#input.schema.getType(requested.type.name);
    if (!isObjectType(type)) return;
    const below = { ...origin, path: pathBelow(origin, place.type, own), isCase: own.isAbstract };
    const segments = [{ key: field.key, type: undefined, isNullable: !isNonNullType(own.type) }, ...listSegments(own)];
    const path = [...place.path, ...segments.slice(0, -1), { ...(segments.at(-1) as PathSegment), type: type.name }];
    this.#arrangeObject(requested, { type, sets: field.sets, path }, below);
  }

  /** Sets the order of an object's fields: what is not part of the response first, then what the client selects. */
  #setItems(requested: RequestedObject, kept: readonly RequestedItem[], origin: Origin): void {
    const isKept = new Set(kept.flatMap((item) => (item.kind === 'field' ? [item.field.key] : [])));
    const dropped = [...requested.fields.values()].filter(({ key }) => !isKept.has(key));
    const items = dropped.flatMap((field): RequestedItem[] => {
      if (field.key === '__typename' && field.name === '__typename' && field.when.length === 0) {
        if (origin.isCase) return [];
        if (requested.fields.size > 1) {
          requested.fields.delete('__typename');
          origin.fetch.knownTypes.push({ path: origin.path, type: requested.type.name });
          return [];
        }
      }
      for (const each of field.cases)
        this.#setItems(each, [], { ...origin, path: pathBelow(origin, requested.type, field), isCase: field.isAbstract });
      return [{ kind: 'field', field, isKept: false, keptWhen: [], selected: undefined }];
    });
    requested.items = [...items, ...kept];
  }

  #addRootHole(
    fetch: RequestedFetch,
    part: number,
    { positions, others }: { positions: readonly FieldPosition[]; others: readonly RequestedFetch[] },
  ): number {
    const { root } = this.#input;
    const hasOne = ({ tops }: RequestedFetch) => positions.some(({ field }) => tops[0]?.object.fields.has(field.key));
    const isShared = others.some((other) => other !== fetch && hasOne(other));
    const hole = { fetch: fetch.index, part, hasKey: true, offset: undefined, representation: 0, words: HOLE_WORDS };
    const fields = describeFields(root, { positions, isShared });
    return this.holes.push({ ...hole, ...fields, below: 0, isNullable: true }) - 1;
  }
}

/** Numbers the runs of each fetch. */
function numberParts(runs: readonly Run[]) {
  const counts = new Map<RequestedFetch | undefined, number>();
  return runs.map(({ fetch, positions }) => {
    const part = counts.get(fetch) ?? 0;
    counts.set(fetch, part + 1);
    return { fetch, part, positions };
  });
}

/** Adds the names of the root object's type, which no fetch provides, to the fields of a fetch beside them. */
function attachTypeNames(runs: readonly Run[]): Run[] {
  const attached: Run[] = [];
  let pending: FieldPosition[] = [];
  for (const { fetch, positions } of runs) {
    const last = attached.at(-1);
    if (last && (!fetch || last.fetch === fetch)) last.positions.push(...positions);
    else if (!fetch) pending = positions;
    else attached.push({ fetch, positions: [...pending.splice(0), ...positions] });
  }
  if (attached.length === 0) throw new Unsupported('no fetch at the root');
  return attached;
}

/** Returns whether a fetch of entities is for the objects at a place. */
function isAt({ source: { step }, tops }: RequestedFetch, { path, type }: Place): boolean {
  if (!step.entities || !tops.some(({ object }) => object.type.name === type.name)) return false;
  const isSame = ({ key, types }: PlaceSegment, i: number) => {
    const own = path[i];
    return own?.key === key && (types === undefined || own.type === undefined || types.includes(own.type));
  };
  return step.places.some((each) => each.length === path.length && each.every(isSame));
}

function listSegments({ type }: RequestedField): PathSegment[] {
  const inner = type && isNonNullType(type) ? type.ofType : type;
  if (!inner || !isListType(inner)) return [];
  return [
    { key: '@', type: undefined, isNullable: !isNonNullType(inner.ofType) },
    ...listSegments({ type: inner.ofType } as RequestedField),
  ];
}

function pathBelow({ path, isCase }: Origin, parent: GraphQLObjectType, { key }: RequestedField): readonly KnownTypeSegment[] {
  return [...path, { key, ...(isCase && { on: parent.name }) }];
}

/** Describes what a client selects by a field, to compare it with the same field at another place. */
function describe({ field: { key, name, sets }, when }: FieldPosition): unknown {
  return [key, name, when, sets.map((each) => [print(each.set), each.when])];
}
