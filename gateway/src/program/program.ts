/**
 * The program of an operation: its plan and the source of its generated code, as plain data. The planner thread sends it to the serving
 * thread, so it contains no schema and no functions (ADR 7).
 */
import type { ContextFetch } from './context-fetch.ts';
import type { KeyRename } from './key-rename.ts';
import type { Denial } from '../access/denial.ts';
import type { OperationUsage } from '../request/operation-usage.ts';
import type { OperationKind } from '../request/operation.ts';
import type { BytesProgram, Scanners, Walk } from './bytes-program.ts';
import type { CacheRule, Condition } from './cache-rule.ts';

/** One operation of one supergraph, for any variables. */
export interface Program {
  readonly kind: OperationKind;
  readonly name: string | undefined;
  /** Its position in the document. */
  readonly location: Location | undefined;
  readonly variables: readonly VariableProgram[];
  /** Undefined when only `__typename` is selected. For a subscription, the fetches that complete each event. */
  readonly plan: PlanStep | undefined;
  /** The fetch that subscribes to the source stream of a subscription. */
  readonly source: FetchStep | undefined;
  /** How it is executed on bytes; undefined for an operation that is executed with objects only. */
  readonly bytes: BytesProgram | undefined;
  /** The source of a function body that returns {@link Compiled}. */
  readonly code: string;
  readonly introspection: IntrospectionProgram | undefined;
  /** The response keys that the client selected, to check the paths of errors. */
  readonly shape: Shape;
  /** Whether every selected field has `@tag(name: "public")`: the result is the same for every caller. */
  readonly isPublic: boolean;
  /** The fields whose slicing arguments are counted with the variables of a request. */
  readonly sliced: readonly SlicedField[];
  /** How long the result may be cached by `@cacheControl`; undefined when it must not be. */
  readonly caching: CacheRule | undefined;
  /** The types of which the result may have objects. */
  readonly types: readonly string[];
  /** The fields that the callers of this program may not read, which no fetch asks for. */
  readonly denials: readonly Denial[];
  /** The fields that these callers may not read and get nevertheless, where `authorization.deniedFields` is `unprotected`. */
  readonly unprotected?: readonly Denial[] | undefined;
  /** The limits that the document exceeds, where these are measured. */
  readonly exceeded?: readonly ExceededLimit[] | undefined;
  /** What is reported of its use; undefined where usage is not reported. */
  readonly usage?: OperationUsage | undefined;
}

/** A limit that a document exceeds: its name in `limits` of a configuration file, and the value of the document. */
export interface ExceededLimit {
  readonly limit: string;
  readonly value: number;
}

/**
 * The selection sets of an operation, the root first: response keys, each with the index of the selection set below it, or -1 for a leaf.
 * Objects of all types at one path share one entry.
 */
export type Shape = readonly Readonly<Record<string, number>>[];

/** What the generated code returns; the steps of the plan hold indexes into its arrays. */
export interface Compiled {
  /** Writes the data of the result. Returns null when a value violates the schema; the caller then calls `explain`. */
  readonly write: WriteData;
  /** The same, slower: writes null where the schema demands it and adds the reason to `faults`. */
  readonly explain: (...given: Parameters<WriteData>) => Written;
  readonly collect: readonly Collect[];
  readonly represent: readonly Represent[];
  /** The estimated cost by the IBM cost specification, for these variables. */
  readonly cost: (variables: Readonly<Record<string, unknown>>) => number;
  /** Returns the walker of each fetch; none for an operation that is executed with objects only. */
  readonly walkers: (scan: Scanners) => readonly Walk[];
  /** What the arguments of fields cost with these variables, for walkers that count the actual cost. */
  readonly argumentCosts: (variables: Readonly<Record<string, unknown>>) => readonly number[];
  /** The cost of a result by the same weights. */
  readonly actualCost: (data: Data, variables: Readonly<Record<string, unknown>>) => number;
}

export type Data = Record<string, unknown>;
/**
 * Returns the representation of an entity as JSON; null when a field that it needs is missing, and {@link UNSAFE_ID} when an ID is a number that may be
 * another one than the subgraph sent. `conditions` as in {@link WriteRequest}.
 */
export type Represent = (entity: Data, conditions: Readonly<Record<string, unknown>>) => string | null;
/** Stands for the representation of an entity whose ID is not known exactly. */
export const UNSAFE_ID = '';
/** Collects objects, with the parent and key of each so that it can be replaced. */
// eslint-disable-next-line size/max-params -- an object for each call would cost time on the path of every request
export type Collect = (data: unknown, found: Data[], parents: (Data | unknown[])[] | undefined, keys: (string | number)[]) => void;
export type WriteData = (data: Data, request: WriteRequest) => Written | null;

export interface WriteRequest {
  /** The variables of `@skip` and `@include`, with defaults applied. */
  readonly conditions: Readonly<Record<string, unknown>>;
  readonly introspection: IntrospectionResults;
  readonly buffer: Buffer;
  /** The largest result in bytes: the writer throws a RangeError with the message {@link TOO_LARGE} before it writes more. */
  readonly maxBytes: number;
  readonly faults: ValueFault[];
  /** Called by `explain` for each field that no fetch returned. The writer changes the path afterwards: copy it. */
  readonly noteMissing: (path: readonly (string | number)[]) => void;
}

export const TOO_LARGE = 'The result is too large';

/** `bytes` is the buffer of the request or a larger one; its first `length` bytes are `{"data":…`, without the closing brace. */
export interface Written {
  readonly bytes: Buffer;
  readonly length: number;
}

export interface ValueFault {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

/** `begins` of a sequence are the deferred parts whose fetches may begin when its steps have ended. */
export type PlanStep =
  | { readonly kind: 'sequence'; readonly steps: readonly PlanStep[]; readonly begins?: readonly number[] | undefined }
  | { readonly kind: 'parallel'; readonly steps: readonly PlanStep[] }
  | { readonly kind: 'condition'; readonly variable: string; readonly then: PlanStep | undefined; readonly otherwise: PlanStep | undefined }
  | GraphStep
  | FetchStep;

/** Steps of which each starts when all those have ended whose results it needs. */
export interface GraphStep {
  readonly kind: 'graph';
  readonly steps: readonly PlanStep[];
  /** For each step the indexes of those that it waits for, which come before it. */
  readonly after: readonly (readonly number[])[];
  /** The same from the other side: for each step those that wait for it. */
  readonly next: readonly (readonly number[])[];
}

export interface FetchStep {
  readonly kind: 'fetch';
  /** Its number among the fetches of its plan. */
  readonly index: number;
  readonly service: string;
  readonly operationKind: OperationKind;
  /** The GraphQL document, for subscriptions and plan reports. */
  readonly operation: string;
  readonly operationName: string | undefined;
  /** The request body up to the first variable: `{"query":"…","variables":{`. */
  readonly prefix: string;
  readonly variables: readonly string[];
  /** The path of its objects in the result; `@` stands for each element of a list. Empty for the root. The first one of several. */
  readonly path: readonly string[];
  /** All of its paths: several where fetches of entities became one (ADR 50). */
  readonly paths: readonly (readonly string[])[];
  /** The same with the types that objects on the path must have; at least one. Those with the same path follow each other. */
  readonly places: readonly Place[];
  /** Indexes into `collect`, one for each path; none at the root. */
  readonly collectors: readonly number[];
  readonly entities: EntityFetch | undefined;
  /** Undefined for a fetch without contextual arguments. */
  readonly contexts: ContextFetch | undefined;
  readonly rewrites: readonly KeyRename[];
  /** The response keys at the root of its result. */
  readonly keys: readonly string[];
  /** Whether this plan may send the same request twice. */
  readonly isRepeated: boolean;
  /** How long its result may be kept; undefined when it must not be, and where no results of fetches are kept. */
  readonly caching: FetchCaching | undefined;
}

/** What the schema says about keeping the result of a fetch. */
export interface FetchCaching {
  /** The most seconds; undefined where no field has a hint. */
  readonly maxAge: number | undefined;
  /** Whether it is kept only when its subgraph says for how long: a field has no hint. */
  readonly needsHeader: boolean;
  readonly isPrivate: boolean;
  /** The types of which the result may have objects. */
  readonly types: readonly string[];
}

/** A path in the result, segment by segment. */
export type Place = readonly PlaceSegment[];

export interface PlaceSegment {
  /** A response key, or `@` for each element of a list. */
  readonly key: string;
  /** The allowed `__typename` values of the object at this segment; undefined for any type. */
  readonly types?: readonly string[];
}

export interface EntityFetch {
  /** Index into `represent`. */
  readonly represent: number;
  /** The type and the key field that identify the entities; undefined when only the whole representation identifies them. */
  readonly key: { readonly type: string; readonly name: string } | undefined;
  /** Interface names: a subgraph that only knows an interface must not overwrite the type of an entity (`@interfaceObject`). */
  readonly interfaces: readonly string[];
  /** Whether all places of an entity may share one object; false where later fetches depend on the objects around it. */
  readonly areShared: boolean;
  /** Types for which this fetch decides whether an entity exists: an entity that its subgraph returns as null is null in the result. */
  readonly decides: readonly string[];
}

export interface VariableProgram {
  readonly name: string;
  readonly type: InputType;
  readonly hasDefault: boolean;
  readonly default: unknown;
  /** Whether `@skip` or `@include` uses it: these do not accept null. */
  readonly isCondition: boolean;
  /** Its name in fetches, where that differs. */
  readonly alias: string | undefined;
  /** The position of its definition in the document. */
  readonly location: Location | undefined;
}

/** Line and column count from 1. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The type of a value that a client sends. */
export type InputType =
  | { readonly kind: 'nonNull'; readonly of: InputType }
  | { readonly kind: 'list'; readonly of: InputType }
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'enum'; readonly name: string; readonly values: readonly string[] }
  | { readonly kind: 'object'; readonly name: string; readonly isOneOf: boolean; fields: readonly InputField[] };

export interface InputField {
  readonly name: string;
  readonly type: InputType;
  readonly hasDefault: boolean;
}

export interface IntrospectionProgram {
  /** The estimated number of objects in its result. */
  readonly cost: number;
  /** Undefined when the results depend on variables. */
  readonly fixed: IntrospectionResults | undefined;
}

/** The results of introspection fields by response key, as JSON in UTF-8; each has a buffer of its own, which can be transferred. */
export type IntrospectionResults = Readonly<Record<string, Uint8Array>>;

/** A field whose slicing arguments are to be counted for each request. */
export interface SlicedField {
  /** The coordinate of the field, such as `Query.users`. */
  readonly field: string;
  /** All slicing arguments. */
  readonly names: readonly string[];
  /** Those that have a value in the document. */
  readonly literals: readonly string[];
  /** Those that have the value of a variable. */
  readonly variables: readonly SlicingVariable[];
  /** Whether a slicing argument has a default, which counts when none is set. */
  readonly hasDefault: boolean;
  /** The conditions of `@skip` and `@include` around the field. */
  readonly when: readonly Condition[];
  readonly location: Location | undefined;
}

export interface SlicingVariable {
  readonly name: string;
  readonly variable: string;
  /** Input fields within the value of the variable. */
  readonly path: readonly string[];
}
