/** The fragments with `@defer` of one selection set: each stays one fragment, because clients get it as one. No I/O. */
import { type DirectiveNode, Kind, type SelectionNode, type SelectionSetNode } from 'graphql';
import { type Condition, union } from '../selections/selection.ts';

export const DEFER = 'defer';

/** A fragment with `@defer`. */
export interface DeferredSet {
  readonly directive: DirectiveNode;
  readonly set: SelectionSetNode;
}

/** Fields of one selection set with the same type conditions and directives around them, as far as deferred fragments need it. */
export interface DeferringBranch {
  /** Names of the object types that meet the type conditions. */
  readonly possible: readonly string[];
  readonly conditions: readonly Condition[];
  /** Directives of fragments other than conditions and `@defer`. */
  readonly directives: readonly DirectiveNode[];
  readonly deferred: DeferredSet[];
}

/** The branches that have a deferred fragment, by its directive. */
export type BranchesByDefer = Map<DirectiveNode, DeferringBranch[]>;

/** Returns the directive of a fragment that may be delivered later. */
export function findDefer({ directives = [] }: SelectionNode): DirectiveNode | undefined {
  const directive = directives.find(({ name }) => name.value === DEFER);
  const condition = directive?.arguments?.find(({ name }) => name.value === 'if')?.value;
  return condition?.kind === Kind.BOOLEAN && !condition.value ? undefined : directive;
}

/** Adds a deferred fragment to a branch, unless a branch for all of its objects has it: an object has each deferred fragment once. */
export function addDeferred(branch: DeferringBranch, { directive, set }: DeferredSet, byDefer: BranchesByDefer): void {
  const having = byDefer.get(directive) ?? [];
  if (having.some((other) => isWithin(branch, other))) return;
  const [inner, others] = [having.filter((other) => isWithin(other, branch)), having.filter((other) => !isWithin(other, branch))];
  for (const { deferred } of inner)
    deferred.splice(
      deferred.findIndex((each) => each.directive === directive),
      1,
    );
  byDefer.set(directive, [...others, branch]);
  branch.deferred.push({ directive, set });
}

/** Whether each object of a branch is one of another branch, for all variables. */
function isWithin(branch: DeferringBranch, other: DeferringBranch): boolean {
  return (
    union(branch.conditions, other.conditions).length === branch.conditions.length &&
    branch.possible.every((name) => other.possible.includes(name)) &&
    other.directives.every((directive) => branch.directives.includes(directive))
  );
}
