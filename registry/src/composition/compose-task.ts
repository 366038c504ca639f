/** What the thread of composition is asked, and its answers. */
import type { UsagePolicy } from '@trestle/graph-checks/policy';
import type { RecordedUsage } from '@trestle/graph-checks/usage';
import type { ContractsTask, MadeContract } from './contract-task.ts';
import type { FoundCosts } from './cost-findings.ts';
import type { ValidationTask } from './invalid-operations.ts';
import type { CompositionProblem, InvalidOperation, Operation, SchemaChange, SubgraphSchema, UnlistedChange } from '../records.ts';

/** The composer, as launches name it. A test compares the version with the installed one. */
export const COMPOSER = '@apollo/composition@2.14.4';

/** What a check compares with. */
export interface Comparison {
  /** What clients see now; undefined without a release. */
  readonly apiSdl: string | undefined;
  /** The supergraph of the same launch, by which costs are compared; undefined without a release. */
  readonly supergraphSdl: string | undefined;
  /** The operations that clients have registered. */
  readonly operations: readonly Operation[];
  /** The names of the subgraphs that are new or changed, which are linted. */
  readonly changed: readonly string[];
  /** What clients sent, by which changes are decided; undefined when nothing was recorded. */
  readonly usage: RecordedUsage | undefined;
  readonly policy: UsagePolicy;
}

/** Subgraphs to compose. */
export interface ComposeTask {
  readonly subgraphs: readonly SubgraphSchema[];
  /** For a check, which also asks the second composer. */
  readonly compareWith?: Comparison;
}

interface Findings {
  /** What the composer, the other composer and the lint rules say; the last two of a check only. */
  readonly hints: readonly CompositionProblem[];
  readonly disagreements: readonly string[];
  readonly lint: readonly CompositionProblem[];
}

/** Why subgraphs do not compose. */
export interface NotComposed extends Findings {
  readonly ok: false;
  readonly problems: readonly CompositionProblem[];
}

/** A composed graph, and what a check has found. */
export interface Composed extends Findings {
  readonly ok: true;
  readonly supergraphSdl: string;
  readonly apiSdl: string;
  /** Empty unless the task compares. Breaking changes first. */
  readonly changes: readonly SchemaChange[];
  readonly unlisted: readonly UnlistedChange[];
  readonly brokenOperations: readonly InvalidOperation[];
  /** What operations cost; null when there is nothing to compare with. */
  readonly costs: FoundCosts | null;
}

/** The outcome of a task. */
export type ComposeOutcome = Composed | NotComposed;

/** What the thread does, and what it answers. */
export type Task = ComposeTask | ContractsTask | ValidationTask;
export type Outcome = ComposeOutcome | readonly MadeContract[] | readonly InvalidOperation[];

/** What the thread sends. `crashed`: the composer threw, which is a fault of the composer or a schema that was made to harm it. */
export type ComposeReply = { readonly kind: 'outcome'; readonly outcome: Outcome } | { readonly kind: 'crashed'; readonly reason: string };
