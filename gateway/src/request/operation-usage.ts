/** What the usage of an operation is recorded with. Types only. */

/** Whose report an operation is described for: `registry` is Trestle's, `hive` GraphQL Hive, `graphos` Apollo GraphOS. */
export type UsageFormat = 'registry' | 'hive' | 'graphos';

/** What is reported of an operation: computed once, when it is prepared. */
export interface OperationUsage {
  /** The SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /**
   * The operation with its fragments, without literals and aliases; empty when it is longer than the registry takes. For GraphOS it is the signature of
   * the operation.
   */
  readonly text: string;
  /**
   * What it uses of the schema: for the registry keys of `use-keys.ts` (packages/graph-checks), for Hive its schema coordinates, for GraphOS the
   * coordinates of its fields.
   */
  readonly uses: readonly string[];
  /** What GraphOS has to know besides; undefined for the others. */
  readonly schema?: UsedSchema | undefined;
}

/** The schema of an operation, by which GraphOS identifies it. */
export interface UsedSchema {
  /** The SHA-256 of the supergraph, in hexadecimal. */
  readonly id: string;
  /** The interfaces among the types of the fields. */
  readonly interfaces: readonly string[];
}

/** An error of a result: `service` of its extensions is the subgraph that reported it. */
export interface UsageError {
  readonly path?: readonly (string | number)[] | undefined;
  readonly extensions?: Readonly<Record<string, unknown>> | undefined;
}

/** How a request ended. */
export interface UsageEnd {
  readonly isError: boolean;
  /** Whether the response cache had the result. */
  readonly isCached: boolean;
}

/** The record of one request. The engine sets `operation` once it is known; without it nothing is recorded. */
export interface RequestUsage {
  operation: OperationUsage | undefined;
  /** The errors of the result, where the engine knows them. */
  errors: readonly UsageError[];
  /** Records the request. Later calls do nothing. */
  end(end: UsageEnd): void;
}
