/**
 * The part of a program that executes an operation on the bytes of subgraphs' responses (ADR 23). Plain data, like the program.
 *
 * A *walker* checks one response against what its fetch selected and writes a *tape*: pieces of the response to keep, and holes where the fields
 * of other fetches go, each with the places of the key that identifies its entity.
 */
import type { Condition } from './cache-rule.ts';

export interface BytesProgram {
  /** By the index of a fetch in its plan. */
  readonly fetches: readonly BytesFetch[];
  readonly holes: readonly Hole[];
  /** The holes of the root object, by their number, in the order of the response. */
  readonly rootHoles: readonly number[];
  /** The variables whose values the walkers get, one bit for each. */
  readonly conditions: readonly string[];
  /** Bytes that no response contains, at the start of every arena: names of types. ASCII. */
  readonly constants: string;
  /** What the operation costs beside its fields. */
  readonly baseCost: number;
}

/** One fetch. Its fields are requested in the order of the client's response, so that a response is cut in few places. */
export interface BytesFetch {
  /** The request body up to the first variable, as in a fetch step. */
  readonly prefix: string;
  /** Its objects are in this many parts of the result's objects: fields of other fetches stand between them. */
  readonly parts: number;
  /** How entities of each type are written as representations; undefined for a fetch at the root. */
  readonly representations: readonly Representation[] | undefined;
  /** The fetches in whose responses its entities stand, in the order of its places. */
  readonly owners: readonly number[];
  /** The types of objects whose `__typename` is not requested, because it is known. */
  readonly knownTypes: readonly KnownType[];
  /** What its entities have again of their representations. */
  readonly repeatedKeys: readonly RepeatedKey[];
}

/** A field of a hole, as it is written where its entity is missing. */
export interface AbsentField {
  /** The member of the object: null, or the name of the root type. */
  readonly text: string;
  /** Undefined for the name of the root type, which no subgraph provides. */
  readonly key: string | undefined;
  /** All of these must hold for the field to be part of the response. */
  readonly when: readonly Condition[];
  /** Why the object must be null instead, for a field of a non-null type. */
  readonly fault: string | undefined;
}

/** A place in a tape where fields of another fetch go. */
export interface Hole {
  readonly fetch: number;
  /** Which part of the entity; undefined for a hole that has a key and no fields. */
  readonly part: number | undefined;
  /** Whether it has the places of a key. Another hole refers to the one that has: its second word is the place of that hole. */
  readonly hasKey: boolean;
  /** For a hole that refers to an entity of another fetch: how far the hole with the key is from the start of that entity's tape. */
  readonly offset: number | undefined;
  /** Whether all of its fields have conditions and no other fetch has them, so that the fetch may be left out. */
  readonly isOptional: boolean;
  /** Index into `representations`. */
  readonly representation: number;
  /** Words in the tape. */
  readonly words: number;
  /** Its fields, for a missing entity; undefined where another fetch may have one of them. */
  readonly absent: readonly AbsentField[] | undefined;
  /**
   * How many lists and objects its object is below the nearest one that may be null: 0 where that is the object itself. Where none may be null
   * (`isNullable` false) up to the top of the fetch's response, it is how far the object is below that.
   */
  readonly below: number;
  readonly isNullable: boolean;
}

/** A representation is these texts with the bytes of a value between each two. */
export interface Representation {
  readonly texts: readonly string[];
}

/** A field of a key that entities have again, for another fetch that requires their other fields. */
export interface RepeatedKey {
  readonly key: string;
  readonly type: string;
  /** Index of the type into `representations`. */
  readonly representation: number;
  /** The place of its value, in words: in an entity's tape, and in a hole with the entity's representation. */
  readonly inEntity: number;
  readonly inHole: number;
}

/** Objects at a path of a response, below `data`. */
export interface KnownType {
  readonly path: readonly KnownTypeSegment[];
  readonly type: string;
}

export interface KnownTypeSegment {
  readonly key: string;
  /** Only below objects of this type. */
  readonly on?: string;
}

/** The words of a piece in a tape: where it starts and where it ends. */
export const PIECE_WORDS = 2;
/** The words of a tape before the places of keys: the number of the hole, and the index of the entity. */
export const HOLE_WORDS = 2;
/** The words of a record for each part of an object: where its tape starts, and the range of the result that it has been written to. */
export const RECORD_WORDS = 3;
/** In the place of that range: the object is missing. */
export const MISSING = -1;
/** The word of an object's first record that has the index of its type until the result is written, where the fetch has several types. */
export const TYPE_WORD = 2;

/** What a walker reads and writes. All positions are offsets into the arena. */
export interface WalkJob {
  bytes: Uint8Array;
  /** The same memory as 32-bit words. */
  words: Int32Array;
  view: DataView;
  /** Where the response's data start. */
  start: number;
  /** Set to where they end. A byte that is no JSON follows the response. */
  end: number;
  /** Records in words: `count` times the number of parts, and one more that only has the end of the tape. */
  records: number;
  count: number;
  /** The tape in words, and how far a walker may write between two checks. */
  tape: number;
  limit: number;
  /** The bits of the conditions that are true. */
  conditions: number;
  /** Set to true when an entity is null. */
  hasNulls: boolean;
  /** Gets the actual cost of each part of each object, without that of other fetches in it; null when it is not needed. */
  costs: number[] | null;
  /** What the arguments of fields cost, which depends on variables. */
  argumentCosts: readonly number[];
}

/** Returns where the tape ends; 0 for a response that differs from what was requested in any way; -1 when the tape is full. */
export type Walk = (job: WalkJob) => number;

/** What generated walkers call. Each takes the start of a value and returns where the text goes on; 0 for an invalid value. */
export interface Scanners {
  /** After the opening quote. */
  readonly string: (bytes: Uint8Array, at: number) => number;
  readonly int: (bytes: Uint8Array, at: number) => number;
  readonly float: (bytes: Uint8Array, at: number) => number;
  /** Any JSON value but null, without white space. */
  readonly any: (bytes: Uint8Array, at: number) => number;
}
