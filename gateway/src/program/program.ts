/**
 * What the planner thread hands to the thread that serves: one operation, planned and compiled, as plain data. It crosses threads, so it
 * holds no schema and no functions; `code` is the source of those (ADR 7).
 */

export type OperationKind = 'query' | 'mutation' | 'subscription';

/** One operation of one supergraph, ready to run for any variables. */
export interface Program {
  readonly kind: OperationKind;
  readonly name: string | undefined;
  /** Where the document has it. */
  readonly location: Location | undefined;
  readonly variables: readonly VariableProgram[];
  /** Nothing where a client asks for `__typename` alone. For a subscription, what is left to do for each event. */
  readonly plan: PlanStep | undefined;
  /** Where the events of a subscription come from. */
  readonly source: FetchStep | undefined;
  /** Source of a function body that gives {@link Compiled}. */
  readonly code: string;
  readonly introspection: IntrospectionProgram | undefined;
  /** What the client asked for, by which the paths of errors are read. */
  readonly shape: Shape;
  /** Whether all that it asks for is marked `@tag(name: "public")`: the same for everybody. */
  readonly isPublic: boolean;
}

/**
 * The places of an operation's selections, the root first: response keys, each with the number of the place below it, or -1 for a leaf.
 * Objects of all types have one place.
 */
export type Shape = readonly Readonly<Record<string, number>>[];

/** What the generated code gives; arrays are indexed by the numbers in the steps. */
export interface Compiled {
  /** Writes the answer's data; null when it holds anything that the schema forbids: then `explain` has to write it. */
  readonly write: WriteData;
  /** The same, slower: puts null where it belongs and tells why in `faults`. */
  readonly explain: (...given: Parameters<WriteData>) => Written;
  readonly collect: readonly Collect[];
  readonly represent: readonly Represent[];
  /** The estimated cost by the IBM cost specification, for these variables. */
  readonly cost: (variables: Readonly<Record<string, unknown>>) => number;
  /** What an answer has really cost, by the same weights. */
  readonly actualCost: (data: Data, variables: Readonly<Record<string, unknown>>) => number;
}

export type Data = Record<string, unknown>;
/** Writes an entity's representation as JSON; null when something that it needs is not there. `conditions` as in {@link WriteRequest}. */
export type Represent = (entity: Data, conditions: Readonly<Record<string, unknown>>) => string | null;
/** Where an object was found, so that another can be put in its place. */
export type Collect = (data: unknown, found: Data[], parents: (Data | unknown[])[] | undefined, keys: (string | number)[]) => void;
export type WriteData = (data: Data, request: WriteRequest) => Written | null;

export interface WriteRequest {
  /** Whether each `@skip` and `@include` variable holds. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** JSON texts of introspection fields by response key. */
  readonly introspection: Readonly<Record<string, string>>;
  readonly buffer: Buffer;
  /** The largest answer in bytes: a RangeError with the message {@link TOO_LARGE} is thrown before more are written. */
  readonly maxBytes: number;
  readonly faults: ValueFault[];
  /** Called by `explain` for each field that no fetch has brought. The path is its own, and changes afterwards. */
  readonly noteMissing: (path: readonly (string | number)[]) => void;
}

export const TOO_LARGE = 'The answer is too large';

/** `bytes` is the buffer that was given or a larger one; its first `length` bytes are `{"data":…`, without the closing brace. */
export interface Written {
  readonly bytes: Buffer;
  readonly length: number;
}

export interface ValueFault {
  readonly message: string;
  readonly path: readonly (string | number)[];
}

export type PlanStep =
  | { readonly kind: 'sequence' | 'parallel'; readonly steps: readonly PlanStep[] }
  | { readonly kind: 'condition'; readonly variable: string; readonly then: PlanStep | undefined; readonly otherwise: PlanStep | undefined }
  | FetchStep;

export interface FetchStep {
  readonly kind: 'fetch';
  readonly service: string;
  readonly operationKind: OperationKind;
  /** The GraphQL document, for subscriptions and for people. */
  readonly operation: string;
  readonly operationName: string | undefined;
  /** The request's body up to the first variable: `{"query":"…","variables":{`. */
  readonly prefix: string;
  readonly variables: readonly string[];
  /** Where in the answer its objects stand; `@` for each element of a list. Empty for the root. */
  readonly path: readonly string[];
  /** The same with the types that objects on the way must have: one place at least. */
  readonly places: readonly Place[];
  /** Index into `collect`; undefined at the root. */
  readonly collect: number | undefined;
  readonly entities: EntityFetch | undefined;
  readonly rewrites: readonly KeyRename[];
  /** Response keys at the root of what it fetches. */
  readonly keys: readonly string[];
  /** Whether the same request may be asked for twice by this plan. */
  readonly isRepeated: boolean;
}

/** Where objects stand, segment by segment. */
export type Place = readonly PlaceSegment[];

export interface PlaceSegment {
  /** A response key, or `@` for each element of a list. */
  readonly key: string;
  /** What `__typename` of the object that is reached may be, where it is known; undefined for anything. */
  readonly types?: readonly string[];
}

export interface EntityFetch {
  /** Index into `represent`. */
  readonly represent: number;
  /** The one type that is asked for and the one leaf that tells its entities apart, or undefined when their whole representation does. */
  readonly key: { readonly type: string; readonly name: string } | undefined;
  /** Names that are no object type: a subgraph that only knows an interface must not overwrite what an entity is. */
  readonly interfaces: readonly string[];
  /** Whether one object may stand in all places of an entity; false where what is fetched later depends on the objects around it. */
  readonly areShared: boolean;
  /** Types of which this fetch decides whether an entity exists: one that its subgraph gives as null is null in the result, whatever else is known. */
  readonly decides: readonly string[];
}

/** Puts a field that had to be fetched under another name back where it belongs. */
export interface KeyRename {
  /** Keys and `... on Type` conditions. */
  readonly path: readonly RenameSegment[];
  readonly to: string;
}

export type RenameSegment = { readonly key: string } | { readonly types: readonly string[] };

export interface VariableProgram {
  readonly name: string;
  readonly type: InputType;
  readonly hasDefault: boolean;
  readonly default: unknown;
  /** Whether `@skip` or `@include` asks for it, which take no null. */
  readonly isCondition: boolean;
  /** The name by which fetches know it, where that is another one. */
  readonly alias: string | undefined;
  /** Where the document declares it. */
  readonly location: Location | undefined;
}

/** Line and column count from 1. */
export interface Location {
  readonly line: number;
  readonly column: number;
}

/** The type of a value that a client sends; `named` refers to {@link InputNames} by name. */
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
  /** The estimated number of objects in its answer. */
  readonly cost: number;
  /** Answers by response key, when they depend on no variable. */
  readonly fixed: Readonly<Record<string, string>> | undefined;
}
