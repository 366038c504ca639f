/** What the thread of composition is asked, and its answers. */
import type { BrokenOperation, CompositionProblem, Operation, SchemaChange, SubgraphSchema } from '../records.ts';

/** The composer, as launches name it. A test compares the version with the installed one. */
export const COMPOSER = '@apollo/composition@2.14.4';

/** Subgraphs to compose, and what the result is compared with. */
export interface ComposeTask {
  readonly subgraphs: readonly SubgraphSchema[];
  /** For a check: what clients see now (undefined without a release), and the operations that they have registered. */
  readonly compareWith?: { readonly apiSdl: string | undefined; readonly operations: readonly Operation[] };
}

/** Why subgraphs do not compose. */
export interface NotComposed {
  readonly ok: false;
  readonly problems: readonly CompositionProblem[];
}

/** A composed graph, and what a check has found. */
export interface Composed {
  readonly ok: true;
  readonly supergraphSdl: string;
  readonly apiSdl: string;
  readonly hints: readonly CompositionProblem[];
  /** Empty unless the task compares. Breaking changes first. */
  readonly changes: readonly SchemaChange[];
  readonly brokenOperations: readonly BrokenOperation[];
}

/** The outcome of a task. */
export type ComposeOutcome = Composed | NotComposed;

/** What the thread sends. `crashed`: the composer threw, which is a fault of the composer or a schema that was made to harm it. */
export type ComposeReply =
  { readonly kind: 'outcome'; readonly outcome: ComposeOutcome } | { readonly kind: 'crashed'; readonly reason: string };
