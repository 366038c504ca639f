/** Limits on what one operation may ask for (contract §6), as validation rules: what is too much is never planned. */
import { fail } from '@trestle/schema/errors';
import { type ASTNode, type ASTVisitor, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';

/** Each can be set; these are contract §6's, and for the rest what leaves room for any honest client. */
export interface Limits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
  /** More tokens than this are not even parsed: so few can't be nested so deep that parser or validation overflow the stack. */
  readonly maxTokens: number;
  /** By the IBM cost specification, estimated before anything is fetched. */
  readonly maxCost: number;
}

export const DEFAULT_LIMITS: Limits = { maxDepth: 12, maxAliases: 30, maxRootFields: 20, maxTokens: 4000, maxCost: 1_000_000 };

/** Levels of braces, which fragments within fragments add to without any field: what is too deep overflows the planner's stack. */
export const MAX_SELECTION_LEVELS = 50;
/** Levels of lists and objects in one value. Apollo's planner takes twice the time for each further level of a literal. */
export const MAX_VALUE_DEPTH = 10;

interface Measure {
  readonly depth: number;
  readonly aliases: number;
  /** Fields at the level itself, those of fragments among them. */
  readonly fields: number;
}

const NOTHING: Measure = { depth: 0, aliases: 0, fields: 0 };

/** Reports VALIDATION_ERROR that names limit and value. Introspection is not measured: the standard query is deeper than any limit. */
export const limitOperations =
  ({ maxDepth, maxAliases, maxRootFields }: Omit<Limits, 'maxTokens' | 'maxCost'>) =>
  (context: ValidationContext): ASTVisitor => {
    const measured = new Map<string, Measure>();
    const report = (name: string, { limit, value, node }: { limit: number; value: number; node: ASTNode | undefined }) => {
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
        return { depth: Math.max(sum.depth, one.depth), aliases: sum.aliases + one.aliases, fields: sum.fields + one.fields };
      }, NOTHING);
    const measureOne = (selection: SelectionSetNode['selections'][number]): Measure => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return measureFragment(selection.name.value);
      if (selection.kind === Kind.INLINE_FRAGMENT) return measureSet(selection.selectionSet);
      if (selection.name.value.startsWith('__')) return NOTHING;
      const below = selection.selectionSet ? measureSet(selection.selectionSet) : NOTHING;
      return { depth: below.depth + 1, aliases: below.aliases + (selection.alias ? 1 : 0), fields: 1 };
    };

    /** Reports how deep nodes of one kind stand in each other, as written; once for the outermost. */
    const limitLevels = (name: string, limit: number) => {
      let level = 0;
      let deepest = 0;
      return {
        enter() {
          deepest = Math.max(deepest, ++level);
        },
        leave(node: ASTNode) {
          if (--level > 0) return;
          report(name, { limit, value: deepest, node });
          deepest = 0;
        },
      };
    };
    const values = limitLevels('a value of depth', MAX_VALUE_DEPTH);

    return {
      OperationDefinition({ selectionSet }) {
        const { depth, aliases, fields } = measureSet(selectionSet);
        const node = selectionSet.selections.find((selection) => selection.kind === Kind.FIELD);
        report('depth', { limit: maxDepth, value: depth, node });
        report('aliases', { limit: maxAliases, value: aliases, node });
        report('root fields', { limit: maxRootFields, value: fields, node });
      },
      // Also those of directives, and the defaults of variables.
      ListValue: values,
      ObjectValue: values,
      SelectionSet: limitLevels('selections nested to level', MAX_SELECTION_LEVELS),
      // The planner asks for `__typename` beside what the client asks for: it must mean what it says.
      Field({ alias, name }) {
        if (alias?.value === '__typename' && name.value !== '__typename')
          context.reportError(new GraphQLError('The alias "__typename" is reserved', { nodes: [alias] }));
      },
    };
  };

/** Throws VALIDATION_ERROR that names limit and value for variables of which one is nested too deep. */
export function limitVariables(variables: Readonly<Record<string, unknown>> = {}): void {
  const details = Object.entries(variables)
    .map(([name, value]) => ({ name, depth: depthOf(value) }))
    .filter(({ depth }) => depth > MAX_VALUE_DEPTH)
    .map(({ name, depth }) => ({
      field: `variables.${name}`,
      message: `has a value of depth ${String(depth)}; the limit is ${String(MAX_VALUE_DEPTH)}`,
    }));
  if (details.length > 0) throw fail('VALIDATION_ERROR', 'The variables are nested too deep', { details });
}

/** Throws VALIDATION_ERROR that names limit and value for what would cost too much. */
export function limitCost(cost: number, { maxCost }: Pick<Limits, 'maxCost'>): void {
  if (cost > maxCost)
    throw fail('VALIDATION_ERROR', `The operation has an estimated cost of ${String(cost)}; the limit is ${String(maxCost)}`);
}

/** Level by level instead of by recursion: what is as deep as a whole body must not overflow the stack. */
function depthOf(value: unknown): number {
  let depth = 0;
  for (let level = [value].filter(isNested); level.length > 0; depth++)
    level = level.flatMap((each) => Object.values(each) as unknown[]).filter(isNested);
  return depth;
}

function isNested(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
