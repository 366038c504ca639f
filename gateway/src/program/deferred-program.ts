/**
 * How the deferred fragments of an operation are executed (`@defer`), as plain data. It is a part of a program that has everything else of the
 * operation: without it, or where the client takes one response only, the program executes the operation as a whole.
 */
import type { Condition } from './cache-rule.ts';
import type { Collect, Compiled, PlaceSegment, PlanStep, Program, Represent } from './program.ts';

/** A program for a client that takes incremental delivery, if its operation defers fragments. */
export interface DeferrableProgram extends Program {
  readonly deferred?: DeferredProgram | undefined;
}

export interface DeferredProgram {
  /** The fetches of the first response. */
  readonly plan: PlanStep | undefined;
  /** Every part comes after its parent. */
  readonly parts: readonly DeferredPart[];
  /** The names of interfaces. */
  readonly interfaces: readonly string[];
  /** The source of a function body that returns {@link CompiledDeferred}. */
  readonly code: string;
}

/** One deferred fragment. */
export interface DeferredPart {
  readonly label: string | undefined;
  /** The variable of `@defer(if:)`: without the value true the fragment is not deferred. */
  readonly variable: string | undefined;
  /** The path of its objects from the root; each segment has the types that the object around the key must have. Lists have no segment. */
  readonly path: readonly PlaceSegment[];
  /** The types that its objects must have; undefined for any type. */
  readonly types: readonly string[] | undefined;
  /** The conditions of `@skip` and `@include` around the fragment. */
  readonly when: readonly Condition[];
  /** The index of the part around it; -1 for the first response. */
  readonly parent: number;
  /** Its fetches; undefined when the fetches around it have all of its data. */
  readonly plan: PlanStep | undefined;
}

/** What the generated code returns. */
export interface CompiledDeferred {
  /** Writes the first response. */
  readonly first: Compiled['explain'];
  /** Writes an object of each part; paths of faults begin at that object. */
  readonly parts: readonly Compiled['explain'][];
  readonly collect: readonly Collect[];
  readonly represent: readonly Represent[];
}
