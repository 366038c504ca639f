/** What the usage of an operation is recorded with. Types only. */

/** Whose report an operation is described for: `registry` is Trestle's, `hive` GraphQL Hive. */
export type UsageFormat = 'registry' | 'hive';

/** What is reported of an operation: computed once, when it is prepared. */
export interface OperationUsage {
  /** The SHA-256 of the text, in hexadecimal. */
  readonly hash: string;
  readonly name: string | undefined;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** The operation with its fragments, without literals and aliases. */
  readonly text: string;
  /** What it uses of the schema: for the registry keys of `use-keys.ts` (packages/graph-checks), for Hive its schema coordinates. */
  readonly uses: readonly string[];
}

/** The record of one request. The engine sets `operation` once it is known; without it nothing is recorded. */
export interface RequestUsage {
  operation: OperationUsage | undefined;
  /** Records the request. Later calls do nothing. */
  end(isError: boolean): void;
}
