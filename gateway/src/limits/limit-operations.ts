/** Validation rules for the limits of a document (contract §6): an operation that exceeds one is never planned. */
import {
  type ASTNode,
  type ASTVisitor,
  type FieldNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { MAX_JSON_DEPTH } from '../request/json.ts';
import type { Limits } from './limits.ts';
import type { LimitMeter, MeasuredLimit } from './measured-limits.ts';

/** Nested fields within `__schema` and `__type`: the standard introspection query with nine levels of `ofType` has 14. */
export const MAX_INTROSPECTION_DEPTH = 20;
/** Nested selection sets, also of fragments without fields: deeper ones overflow the planner's stack. */
export const MAX_SELECTION_LEVELS = 50;
/** In characters. Logs and traces of subgraphs contain the name too. */
const MAX_NAME_LENGTH = 200;

type OperationLimits = Pick<
  Limits,
  'maxDepth' | 'maxAliases' | 'maxRootFields' | 'maxInputDepth' | 'hasIntrospection' | 'hasMutations' | 'hasSubscriptions'
>;

/**
 * Returns a validation rule that reports VALIDATION_ERROR with the limit and the value. Meta fields count like other fields; the depth within
 * `__schema` and `__type` is limited separately. `measured` notes the values.
 */
export const limitOperations =
  (limits: OperationLimits, measured?: LimitMeter) =>
  (context: ValidationContext): ASTVisitor => {
    const { maxDepth, maxAliases, maxRootFields, maxInputDepth, hasIntrospection, hasMutations, hasSubscriptions } = limits;
    const meter = new SelectionMeter(context);
    const report: Report = (name, { limit, value, node, setting }) => {
      if (setting) measured?.note(setting, value);
      if (value <= limit) return;
      const message = `${name} ${String(value)} exceeds the limit of ${String(limit)}.`;
      context.reportError(new GraphQLError(message, { ...(node && { nodes: [node] }), extensions: { code: 'VALIDATION_ERROR' } }));
    };
    const nesting = limitLevels('Value nesting depth', { limit: MAX_JSON_DEPTH, report });
    const objects = limitLevels('Input object depth', { limit: maxInputDepth, setting: 'maxInputDepth', report });
    return {
      OperationDefinition(operation) {
        const { name, selectionSet } = operation;
        if (!hasMutations && operation.operation === OperationTypeNode.MUTATION)
          context.reportError(new GraphQLError('Mutations have been disabled.', { nodes: [operation] }));
        if (!hasSubscriptions && operation.operation === OperationTypeNode.SUBSCRIPTION)
          context.reportError(new GraphQLError('Subscriptions have been disabled.', { nodes: [operation] }));
        report('Operation name length', { limit: MAX_NAME_LENGTH, value: name?.value.length ?? 0, node: name });
        const { depth, introspectionDepth, aliases, fields } = meter.measure(selectionSet);
        const node = selectionSet.selections.find((selection) => selection.kind === Kind.FIELD);
        report('Query depth', { limit: maxDepth, value: depth, node, setting: 'maxDepth' });
        report('Introspection depth', { limit: MAX_INTROSPECTION_DEPTH, value: introspectionDepth, node });
        report('Alias count', { limit: maxAliases, value: aliases, node, setting: 'maxAliases' });
        report('Root field count', { limit: maxRootFields, value: fields, node, setting: 'maxRootFields' });
      },
      // Also in directives and in default values of variables.
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
      SelectionSet: limitLevels('Selection set depth', { limit: MAX_SELECTION_LEVELS, report }),
      Field(field) {
        rejectField(field, { hasIntrospection, context });
      },
    };
  };

interface Seen {
  readonly limit: number;
  readonly value: number;
  readonly node: ASTNode | undefined;
  /** The name of the limit, where it is a setting that can be measured. */
  readonly setting?: MeasuredLimit | undefined;
}

type Report = (name: string, seen: Seen) => void;

interface LevelLimit {
  readonly limit: number;
  readonly setting?: MeasuredLimit;
  readonly report: Report;
}

/** Returns a visitor that reports how deep nodes of one kind are nested, as written, once for each outermost node. */
function limitLevels(name: string, { limit, setting, report }: LevelLimit) {
  let level = 0;
  let deepest = 0;
  return {
    enter() {
      deepest = Math.max(deepest, ++level);
    },
    leave(node: ASTNode) {
      if (--level > 0) return;
      report(name, { limit, value: deepest, node, setting });
      deepest = 0;
    },
  };
}

/** Reports introspection where it is disabled. */
function rejectField({ name }: FieldNode, { hasIntrospection, context }: { hasIntrospection: boolean; context: ValidationContext }) {
  // The message of graphql-js.
  if (!hasIntrospection && isIntrospection(name.value))
    context.reportError(
      new GraphQLError(`GraphQL introspection has been disabled, but the requested query contained the field "${name.value}".`, {
        nodes: [name],
      }),
    );
}

interface Measure {
  readonly depth: number;
  /** Nested fields from `__schema` or `__type` on, which do not count in `depth`. */
  readonly introspectionDepth: number;
  readonly aliases: number;
  /** Fields of the selection set itself and of its fragments. */
  readonly fields: number;
}

const EMPTY: Measure = { depth: 0, introspectionDepth: 0, aliases: 0, fields: 0 };

/** Measures the selection sets of one document. */
class SelectionMeter {
  readonly #context: ValidationContext;
  readonly #measured = new Map<SelectionSetNode, Measure>();

  constructor(context: ValidationContext) {
    this.#context = context;
  }

  /**
   * Measures a selection set once. Within itself it counts as empty: another rule reports cycles. A fragment counts once, however often it is
   * spread: its fields are the same (GraphQL §6.3.2).
   */
  measure(set: SelectionSetNode): Measure {
    const known = this.#measured.get(set);
    if (known) return known;
    this.#measured.set(set, EMPTY);
    let sum = EMPTY;
    for (const field of this.#collect(set)) sum = add(sum, this.#measureField(field));
    this.#measured.set(set, sum);
    return sum;
  }

  /** Returns the fields of a selection set and of its fragments. */
  #collect(set: SelectionSetNode): FieldNode[] {
    const fields: FieldNode[] = [];
    const entered = new Set<string>();
    const visit = ({ selections }: SelectionSetNode) => {
      for (const selection of selections) {
        if (selection.kind === Kind.FIELD) fields.push(selection);
        else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
        else if (!entered.has(selection.name.value)) {
          entered.add(selection.name.value);
          const fragment = this.#context.getFragment(selection.name.value);
          if (fragment) visit(fragment.selectionSet);
        }
      }
    };
    visit(set);
    return fields;
  }

  #measureField({ name, alias, selectionSet }: FieldNode): Measure {
    const below = selectionSet ? this.measure(selectionSet) : EMPTY;
    const isMeta = isIntrospection(name.value);
    return {
      depth: isMeta ? 1 : below.depth + 1,
      introspectionDepth: isMeta ? below.depth + 1 : below.introspectionDepth,
      aliases: below.aliases + (alias ? 1 : 0),
      fields: 1,
    };
  }
}

function add(one: Measure, other: Measure): Measure {
  return {
    depth: Math.max(one.depth, other.depth),
    introspectionDepth: Math.max(one.introspectionDepth, other.introspectionDepth),
    aliases: one.aliases + other.aliases,
    fields: one.fields + other.fields,
  };
}

function isIntrospection(name: string): boolean {
  return name === '__schema' || name === '__type';
}
