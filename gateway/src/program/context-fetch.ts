/** What a fetch with contextual arguments (`@fromContext`, federation 2.8) consists of. */
import type { RenameSegment } from './key-rename.ts';

/**
 * The contextual arguments of a fetch of entities (`@fromContext`). Entities with equal values are a group. A single group is fetched by the document
 * of the step; for several groups each has a field `_entities` of its own in one document, which is written of these texts with the number of the
 * group between each two: `start`, the `definitions` of every group, `middle`, the `entities` of every group, and a closing brace.
 */
export interface ContextFetch {
  readonly variables: readonly ContextVariable[];
  readonly start: string;
  readonly definitions: readonly string[];
  readonly middle: string;
  readonly entities: readonly string[];
}

/** A variable with a value of an object above the entity, or of the entity itself. */
export interface ContextVariable {
  readonly name: string;
  readonly isNonNull: boolean;
  /** The fields that have the variable. The value is fetched for the same types and under the same conditions, so it is absent for others. */
  readonly uses: readonly ContextUse[];
  /** The first source is used whose type conditions the object meets. */
  readonly sources: readonly ContextSource[];
}

/** A field that has the variable of a contextual argument. */
export interface ContextUse {
  /** The names that `__typename` of its entity may have; undefined for any. */
  readonly types: readonly string[] | undefined;
  /** The conditions around the field. */
  readonly conditions: readonly ContextCondition[];
}

/** `@include` (true) or `@skip` (false) with a variable. */
export interface ContextCondition {
  readonly variable: string;
  readonly isIncluded: boolean;
}

export interface ContextSource {
  /** How many objects above the entity; 0 for the entity itself. */
  readonly up: number;
  readonly path: readonly RenameSegment[];
}
