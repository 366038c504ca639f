/** Limits on what one operation may ask for (contract §6), as validation rules: what is too much is never planned. */
import { type ASTNode, type ASTVisitor, type FieldNode, GraphQLError, Kind, type SelectionSetNode, type ValidationContext } from 'graphql';
import { LocatedFault } from '../program/located-fault.ts';
import type { Location } from '../program/program.ts';
import { TYPENAME_ALIAS } from '../program/response-key.ts';
import { MAX_JSON_DEPTH } from '../request/json.ts';

/** Each can be set; these are contract §6's, and for the rest what leaves room for any honest client. */
export interface Limits {
  readonly maxDepth: number;
  readonly maxAliases: number;
  readonly maxRootFields: number;
  /** Input objects in each other, in literals and in variables; lists around them do not count. */
  readonly maxInputDepth: number;
  /** Whether clients may ask for `__schema` and `__type`. */
  readonly hasIntrospection: boolean;
  /** Selections of an operation whose fragments are expanded: what the planner has to look at. */
  readonly maxSelections: number;
  /** More tokens than this are not even parsed: so few can't be nested so deep that parser or validation overflow the stack. */
  readonly maxTokens: number;
  /** By the IBM cost specification, estimated before anything is fetched. */
  readonly maxCost: number;
  /** The largest response, in bytes before compression. */
  readonly maxResponseBytes: number;
}

export const DEFAULT_LIMITS: Limits = {
  maxDepth: 12,
  maxAliases: 30,
  maxRootFields: 20,
  maxInputDepth: 50,
  hasIntrospection: true,
  maxSelections: 2000,
  maxTokens: 4000,
  maxCost: 1_000_000,
  maxResponseBytes: 10 * 1024 * 1024,
};

/** Levels of fields within `__schema` and `__type`, which list each other: the standard query with nine levels of `ofType` has 14. */
export const MAX_INTROSPECTION_DEPTH = 20;

/** Levels of braces, which fragments within fragments add to without any field: what is too deep overflows the planner's stack. */
export const MAX_SELECTION_LEVELS = 50;
/** Logs and traces of subgraphs have it too. */
const MAX_NAME_CHARACTERS = 200;

interface Measure {
  readonly depth: number;
  /** Levels of fields from `__schema` or `__type` on, which do not count in `depth`. */
  readonly introspectionDepth: number;
  readonly aliases: number;
  /** Fields at the level itself, those of fragments among them. */
  readonly fields: number;
}

function add(sum: Writable<Measure>, one: Measure): void {
  sum.depth = Math.max(sum.depth, one.depth);
  sum.introspectionDepth = Math.max(sum.introspectionDepth, one.introspectionDepth);
  sum.aliases += one.aliases;
  sum.fields += one.fields;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

const NOTHING: Measure = { depth: 0, introspectionDepth: 0, aliases: 0, fields: 0 };

/** Reports VALIDATION_ERROR that names limit and value. Meta fields count as others do; those of introspection have a depth of their own. */
export const limitOperations =
  ({
    maxDepth,
    maxAliases,
    maxRootFields,
    maxInputDepth,
    hasIntrospection,
  }: Omit<Limits, 'maxSelections' | 'maxTokens' | 'maxCost' | 'maxResponseBytes'>) =>
  (context: ValidationContext): ASTVisitor => {
    const measured = new Map<SelectionSetNode, Measure>();
    const report = (name: string, { limit, value, node }: { limit: number; value: number; node: ASTNode | undefined }) => {
      if (value > limit) {
        const message = `The operation has ${name} ${String(value)}; the limit is ${String(limit)}`;
        context.reportError(new GraphQLError(message, { ...(node && { nodes: [node] }), extensions: { code: 'VALIDATION_ERROR' } }));
      }
    };

    /**
     * A selection set is measured once, and not again while it is being measured: cycles are another rule's to report. A fragment counts once in it,
     * however often it is spread: its fields are the same (GraphQL §6.3.2).
     */
    const measureSet = (set: SelectionSetNode): Measure => {
      const known = measured.get(set);
      if (known) return known;
      measured.set(set, NOTHING);
      const measure = { ...NOTHING };
      const entered = new Set<string>();
      const look = ({ selections }: SelectionSetNode) => {
        for (const selection of selections) {
          if (selection.kind === Kind.FIELD) add(measure, measureField(selection));
          else if (selection.kind === Kind.INLINE_FRAGMENT) look(selection.selectionSet);
          else if (!entered.has(selection.name.value)) {
            entered.add(selection.name.value);
            const fragment = context.getFragment(selection.name.value);
            if (fragment) look(fragment.selectionSet);
          }
        }
      };
      look(set);
      measured.set(set, measure);
      return measure;
    };
    const measureField = ({ name, alias, selectionSet }: FieldNode): Measure => {
      const below = selectionSet ? measureSet(selectionSet) : NOTHING;
      const isIntrospection = name.value === '__schema' || name.value === '__type';
      return {
        depth: isIntrospection ? 1 : below.depth + 1,
        introspectionDepth: isIntrospection ? below.depth + 1 : below.introspectionDepth,
        aliases: below.aliases + (alias ? 1 : 0),
        fields: 1,
      };
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
    const nesting = limitLevels('a value nested to level', MAX_JSON_DEPTH);
    const objects = limitLevels('input objects nested to level', maxInputDepth);

    return {
      OperationDefinition({ name, selectionSet }) {
        report('a name of length', { limit: MAX_NAME_CHARACTERS, value: name?.value.length ?? 0, node: name });
        const { depth, introspectionDepth, aliases, fields } = measureSet(selectionSet);
        const node = selectionSet.selections.find((selection) => selection.kind === Kind.FIELD);
        report('depth', { limit: maxDepth, value: depth, node });
        report('introspection of depth', { limit: MAX_INTROSPECTION_DEPTH, value: introspectionDepth, node });
        report('aliases', { limit: maxAliases, value: aliases, node });
        report('root fields', { limit: maxRootFields, value: fields, node });
      },
      // Also those of directives, and the defaults of variables.
      ListValue: nesting,
      ObjectValue: {
        enter() {
          nesting.enter();
          objects.enter();
        },
        leave(node) {
          nesting.leave(node);
          objects.leave(node);
        },
      },
      SelectionSet: limitLevels('selections nested to level', MAX_SELECTION_LEVELS),
      Field({ alias, name }) {
        if (!hasIntrospection && (name.value === '__schema' || name.value === '__type'))
          context.reportError(
            new GraphQLError(`Introspection is switched off here: \`${name.value}\` is not available`, { nodes: [name] }),
          );
        if (alias?.value === TYPENAME_ALIAS)
          context.reportError(new GraphQLError(`The alias "${TYPENAME_ALIAS}" is reserved; use another one`, { nodes: [alias] }));
      },
    };
  };

/**
 * Throws VALIDATION_ERROR that names limit and value for variables of which one has objects nested too deep. `locate` gives the place where the
 * document declares a variable.
 */
export function limitVariables(
  variables: Readonly<Record<string, unknown>>,
  { maxInputDepth }: Pick<Limits, 'maxInputDepth'>,
  locate: (name: string) => Location | undefined,
): void {
  const tooDeep = Object.entries(variables)
    .map(([name, value]) => ({ name, depth: countObjectLevels(value) }))
    .filter(({ depth }) => depth > maxInputDepth);
  const details = tooDeep.map(({ name, depth }) => ({
    field: `variables.${name}`,
    message: `has input objects nested to level ${String(depth)}; the limit is ${String(maxInputDepth)}`,
  }));
  const [first] = details;
  if (!first) return;
  const locations = tooDeep.map(({ name }) => locate(name));
  throw new LocatedFault('VALIDATION_ERROR', `\`${first.field}\` ${first.message}`, { details, locations });
}

/** Throws VALIDATION_ERROR that names limit and value for an operation, at its place in the document, that would cost too much. */
export function limitCost(cost: number, limits: Pick<Limits, 'maxCost'>, location: Location | undefined): void {
  if (cost > limits.maxCost) throw new LocatedFault('VALIDATION_ERROR', tooExpensive(cost, limits), { locations: [location] });
}

/** Returns the message for an operation whose estimated cost is above the limit. */
export function tooExpensive(cost: number, { maxCost }: Pick<Limits, 'maxCost'>): string {
  return `The operation has an estimated cost of ${String(cost)}; the limit is ${String(maxCost)}`;
}

/** How many objects stand in each other; lists do not count. The value was read by `parseJson`, which limits its nesting. */
function countObjectLevels(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let deepest = 0;
  for (const each of Object.values(value)) deepest = Math.max(deepest, countObjectLevels(each));
  return Array.isArray(value) ? deepest : deepest + 1;
}
