/** What subgraphs return for one fetch, and the errors of a result. Types only. */
import type { ErrorCode } from '@trestle/schema/errors';
import type { Data } from './program.ts';

/** The execution result of a subgraph (GraphQL §7.1). */
export interface SubgraphResult {
  readonly data?: Data | null;
  readonly errors?: readonly SubgraphError[];
}

/** An error that a subgraph reports. Nothing about it is certain. */
export interface SubgraphError {
  readonly message?: unknown;
  readonly path?: unknown;
  readonly extensions?: unknown;
}

/** Why a fetch has no result. */
export interface SubgraphFailure {
  readonly code: ErrorCode;
  readonly message: string;
  /** For the log only. */
  readonly cause: unknown;
  /** Whether the subgraph may have executed the fetch, or may do so later. Default: no. */
  readonly mayBeExecuted?: boolean;
}

/** Called exactly once for each fetch. */
export type FetchDone = (failure: SubgraphFailure | null, result: SubgraphResult) => void;

export type ErrorPath = readonly (string | number)[];

/** An error of the result of an operation, before it is formatted for the client. */
export interface ResultError {
  readonly message: string;
  readonly path?: ErrorPath | undefined;
  readonly extensions: Record<string, unknown>;
  /** For the log only. */
  readonly cause?: unknown;
}
