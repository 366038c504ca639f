/** Digs the holes of one object: where the fields of its entity's fetches go, and where the keys of the entity are. */
import { type Hole, HOLE_WORDS } from '../../program/bytes-program.ts';
import type { FieldPosition } from '../selections/field-positions.ts';
import { type PathSegment, describeFields, findNullable } from './absent-fields.ts';
import type { RequestedFetch, RequestedTop } from './requested-fetch.ts';
import { type RequestedField, type RequestedHole, type RequestedItem, type RequestedObject, Unsupported } from './requested-object.ts';
import { missingKeys, requireKey } from './required-key.ts';

export interface ObjectHolesInput {
  readonly object: RequestedObject;
  /** The fetch in whose response the object stands, and those of its entity. */
  readonly owner: RequestedFetch;
  readonly others: readonly RequestedFetch[];
  /** All holes of the operation. */
  readonly table: Hole[];
  /** From the top of the owner's response to the object. */
  readonly path: readonly PathSegment[];
}

/** Where the index of an entity is found: at a hole of the object, or beyond the entity of another fetch. */
interface Reference {
  readonly register: number;
  /** The registers with the places of the values of its key, at the hole that has the key. */
  readonly registers: readonly number[];
  readonly offset: number | undefined;
}

export class ObjectHoles {
  /** Holes that have keys and no fields. They come first in the object. */
  readonly keys: RequestedItem[] = [];
  readonly #input: ObjectHolesInput;
  readonly #references = new Map<RequestedFetch, Reference>();
  readonly #requirers = new Map<RequestedFetch, RequestedFetch[]>();

  constructor(input: ObjectHolesInput) {
    this.#input = input;
  }

  /** The fetches of the entity that have holes here, each with those that require its fields here. */
  get fetches(): { readonly fetch: RequestedFetch; readonly requirers: readonly RequestedFetch[] }[] {
    return Array.from(this.#references.keys(), (fetch) => ({ fetch, requirers: this.#requirers.get(fetch) ?? [] }));
  }

  /** Returns the hole for one part of an entity. Throws Unsupported when its key stands elsewhere. */
  add(fetch: RequestedFetch, part: number, positions: readonly FieldPosition[]): RequestedItem {
    const { object, owner } = this.#input;
    const fields = { part, ...describeFields(object.type, { positions, isShared: this.#isShared(fetch, positions) }) };
    const known = this.#references.get(fetch);
    const provider = known ? undefined : this.#providerOf(fetch);
    if (known || provider) {
      const { register, offset } = known ?? this.#referTo(fetch, provider as RequestedFetch);
      return this.#add(owner, { fetch, ...fields, offset, object }, { first: register, registers: [] });
    }
    return this.#addKey(fetch, fields);
  }

  /** Whether another fetch of the entity has one of the fields, too. */
  #isShared(fetch: RequestedFetch, positions: readonly FieldPosition[]): boolean {
    const { object, others } = this.#input;
    return others.some((other) => other !== fetch && positions.some(({ field }) => topOf(other, object)?.object.fields.has(field.key)));
  }

  /** Digs a hole with the key of an entity, whose values are in the object. */
  #addKey(fetch: RequestedFetch, fields: Pick<Hole, 'part' | 'isOptional' | 'absent'>): RequestedItem {
    const { object, owner } = this.#input;
    const registers = requireKey(fetch, object, owner);
    if (!fetch.owners.includes(owner.index)) fetch.owners.push(owner.index);
    const item = this.#add(owner, { fetch, ...fields, offset: undefined, object }, { first: undefined, registers });
    this.#references.set(fetch, { register: item.hole.register, registers, offset: undefined });
    return item;
  }

  /** Returns the fetch whose entity has the values that the object itself lacks; undefined when it lacks none. */
  #providerOf(fetch: RequestedFetch): RequestedFetch | undefined {
    const { object, others } = this.#input;
    const missing = missingKeys(fetch, object);
    if (missing.length === 0) return undefined;
    const provider = others.find((other) => other !== fetch && missing.every((key) => topOf(other, object)?.object.fields.has(key)));
    if (!provider) throw new Unsupported('a requirement from another fetch');
    return provider;
  }

  /** Makes a fetch find its entities by those of its provider, which then have the keys. */
  #referTo(fetch: RequestedFetch, provider: RequestedFetch): Reference {
    const { object } = this.#input;
    const first = this.#references.get(provider) ?? this.#referToKey(provider);
    if (first.offset !== undefined) throw new Unsupported('a requirement from a fetch that has requirements');
    const top = topOf(provider, object) as RequestedTop;
    const offset = top.keys.get(fetch)?.offset ?? this.#addToTop(fetch, provider, { top, registers: first.registers });
    const reference = { ...first, offset };
    this.#references.set(fetch, reference);
    this.#requirers.set(provider, [...(this.#requirers.get(provider) ?? []), fetch]);
    return reference;
  }

  #referToKey(provider: RequestedFetch): Reference {
    if (this.#providerOf(provider)) throw new Unsupported('a requirement from a fetch that has requirements');
    this.keys.push(this.#addKey(provider, { part: undefined, isOptional: false, absent: [] }));
    return this.#references.get(provider) as Reference;
  }

  /**
   * Digs the hole with a fetch's key at the start of its provider's entities. `ofProvider` are the registers of the provider's own key. Returns how
   * far the hole is from the start.
   */
  #addToTop(
    fetch: RequestedFetch,
    provider: RequestedFetch,
    { top, registers: ofProvider }: { top: RequestedTop; registers: readonly number[] },
  ): number {
    if (top.signature !== undefined) throw new Unsupported('an entity with different requirements at two places');
    const { object, table } = this.#input;
    const missing = missingKeys(fetch, top.object);
    for (const key of missing) copyKey(key, { from: object, to: top.object, provider });
    const registers = requireKey(fetch, top.object, provider);
    if (!fetch.owners.includes(provider.index)) fetch.owners.push(provider.index);
    let offset = 0;
    for (const { item } of top.keys.values()) offset += table[item.hole.number]?.words ?? 0;
    const fields = { fetch, part: undefined, isOptional: false, absent: [], offset: undefined, object: top.object };
    const item = this.#add(provider, fields, { first: undefined, registers });
    top.keys.set(fetch, { item, offset });
    const type = object.type.name;
    const representation = provider.tops.indexOf(top);
    for (const key of missing) {
      const inEntity = offset + wordOf(top.object.fields.get(key), registers);
      const inHole = wordOf(object.fields.get(key), ofProvider);
      provider.repeatedKeys.push({ key, type, representation, inEntity, inHole });
    }
    return offset;
  }

  #add(
    owner: RequestedFetch,
    {
      fetch,
      object,
      ...fields
    }: Pick<Hole, 'part' | 'isOptional' | 'absent' | 'offset'> & Pick<ObjectHolesInput, 'object'> & { readonly fetch: RequestedFetch },
    { first, registers }: Pick<RequestedHole, 'first' | 'registers'>,
  ): { readonly kind: 'hole'; readonly hole: RequestedHole } {
    const representation = fetch.tops.findIndex((top) => top.object.type.name === object.type.name);
    const words = HOLE_WORDS + 2 * registers.length;
    const { table, path } = this.#input;
    const hole = { ...fields, fetch: fetch.index, hasKey: first === undefined, representation, words, ...findNullable(path) };
    const number = table.push(hole) - 1;
    return { kind: 'hole', hole: { number, register: owner.holes++, first, registers } };
  }
}

function topOf({ tops }: RequestedFetch, { type }: RequestedObject): RequestedTop | undefined {
  return tops.find(({ object }) => object.type.name === type.name);
}

/** Returns where a hole has the place of a field's value. Throws Unsupported for a value that is not part of its key. */
function wordOf(field: RequestedField | undefined, registers: readonly number[]): number {
  const index = registers.findIndex((register) => register === field?.register);
  if (index < 0) throw new Unsupported('a requirement from two fetches');
  return HOLE_WORDS + 2 * index;
}

/** Requests a field of a key again from the fetch that was given it. */
function copyKey(key: string, { from, to, provider }: { from: RequestedObject; to: RequestedObject; provider: RequestedFetch }): void {
  const field = from.fields.get(key);
  const isKey = provider.source.keysOf(to.type.name).some((each) => each.includes(key));
  if (!field || !isKey || field.name !== key || field.cases.length > 0 || field.when.length > 0)
    throw new Unsupported('a requirement from two fetches');
  to.fields.set(key, { ...field, register: undefined, isNeverNull: false });
}
