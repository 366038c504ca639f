/** Limits on what one operation may ask for (contract §6), as validation rules: what is too much is never planned. */
import { type ASTVisitor, type FieldNode, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';

export const MAX_DEPTH = 12;
export const MAX_ALIASES = 30;
/** More tokens than this are not even parsed. */
export const MAX_TOKENS = 10_000;

interface Measure {
  readonly depth: number;
  readonly aliases: number;
}

const NOTHING: Measure = { depth: 0, aliases: 0 };

/** Reports VALIDATION_ERROR that names limit and value. Introspection is not measured: the standard query is deeper than any limit. */
export function limitOperations(context: ValidationContext): ASTVisitor {
  const measured = new Map<string, Measure>();
  const report = (name: string, { limit, value, node }: { limit: number; value: number; node: FieldNode | undefined }) => {
    if (value > limit) {
      const message = `The operation has ${name} ${String(value)}; the limit is ${String(limit)}`;
      context.reportError(new GraphQLError(message, { ...(node && { nodes: [node] }), extensions: { code: 'VALIDATION_ERROR' } }));
    }
  };

  /** A fragment is measured once, and not again while it is being measured: cycles are another rule's to report. */
  const measureFragment = (name: string): Measure => {
    const known = measured.get(name);
    if (known) return known;
    measured.set(name, NOTHING);
    const fragment = context.getFragment(name);
    const measure = fragment ? measureSet(fragment.selectionSet) : NOTHING;
    measured.set(name, measure);
    return measure;
  };
  const measureSet = ({ selections }: SelectionSetNode): Measure =>
    selections.reduce<Measure>((sum, selection) => {
      const one = measureOne(selection);
      return { depth: Math.max(sum.depth, one.depth), aliases: sum.aliases + one.aliases };
    }, NOTHING);
  const measureOne = (selection: SelectionSetNode['selections'][number]): Measure => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
    if (selection.kind === Kind.INLINE_FRAGMENT) return measureSet(selection.selectionSet);
    if (selection.name.value.startsWith('__')) return NOTHING;
    const below = selection.selectionSet ? measureSet(selection.selectionSet) : NOTHING;
    return { depth: below.depth + 1, aliases: below.aliases + (selection.alias ? 1 : 0) };
  };

  return {
    OperationDefinition({ selectionSet }) {
      const { depth, aliases } = measureSet(selectionSet);
      const node = selectionSet.selections.find((selection) => selection.kind === Kind.FIELD);
      report('depth', { limit: MAX_DEPTH, value: depth, node });
      report('aliases', { limit: MAX_ALIASES, value: aliases, node });
    },
  };
}
