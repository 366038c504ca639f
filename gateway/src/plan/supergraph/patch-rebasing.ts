/** Repairs how Apollo's planner merges fetches for `@requires`. */
import {
  type CompositeType,
  type FieldDefinition,
  SelectionSet,
  baseType,
  federationMetadata,
  isCompositeType,
  isInterfaceType,
} from '@apollo/federation-internals';

const ORIGINAL = Symbol('original');
type Rebasing = (this: SelectionSet, type: CompositeType) => boolean;
const prototype = SelectionSet.prototype as unknown as { canRebaseOn: Rebasing; [ORIGINAL]?: Rebasing };

/**
 * Replaces `canRebaseOn`, by which the planner finds whether the fetch before can select what a `@requires` needs. It accepts fields that the subgraph
 * of that fetch has as `@external`, or with a `@requires` of its own, and that subgraph does not resolve them there. Idempotent.
 */
export function patchRebasing(): void {
  if (prototype[ORIGINAL]) return;
  const original = prototype.canRebaseOn;
  prototype[ORIGINAL] = original;
  prototype.canRebaseOn = function canRebaseOn(type) {
    return original.call(this, type) && resolvesAll(type, this);
  };
}

/** Whether the subgraph whose type it is resolves all selected fields where no `@provides` adds any. */
function resolvesAll(type: CompositeType, set: SelectionSet): boolean {
  return set.selections().every((selection) => {
    if (selection.kind === 'FragmentSelection') {
      const condition = selection.element.typeCondition;
      const on = condition ? type.schema().type(condition.name) : type;
      return !on || !isCompositeType(on) || resolvesAll(on, selection.selectionSet);
    }
    const field = type.field(selection.element.name);
    if (!field) return true;
    const below = baseType(field.type as NonNullable<typeof field.type>);
    return resolves(type, field) && (!selection.selectionSet || !isCompositeType(below) || resolvesAll(below, selection.selectionSet));
  });
}

function resolves(type: CompositeType, field: FieldDefinition<CompositeType>): boolean {
  const metadata = federationMetadata(type.schema());
  if (!metadata) return true;
  const own = isInterfaceType(type) ? type.possibleRuntimeTypes().flatMap((each) => each.field(field.name) ?? []) : [];
  return [field, ...own].every((each) => !metadata.isFieldExternal(each) && !each.hasAppliedDirective(metadata.requiresDirective()));
}
