/** Reads an operation before it is planned: parses, selects, validates, limits (GraphQL §5, §6.1). */
import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  visit,
} from 'graphql';
import { type Limits, toIntrospectionLimits, tooExpensive } from '../../limits/limits.ts';
import { LimitMeter, toRefusingLimits } from '../../limits/measured-limits.ts';
import { validateOperations } from '../../limits/validate-operations.ts';
import { expandOperation } from './expand-operation.ts';
import { hideValues } from './hide-values.ts';
import {
  checkIncremental,
  countIncremental,
  isIncremental as hasIncremental,
  withoutIncremental,
} from '../supergraph/incremental-directives.ts';
import { type Introspection, findIntrospection } from './introspection.ts';
import { estimateIntrospection, measureIntrospection } from './introspection-cost.ts';
import type { AccessRule } from '../../access/access-rule.ts';
import type { Denial } from '../../access/denial.ts';
import { createDirectiveCompleter } from '../supergraph/operation-directives.ts';
import type { ExceededLimit } from '../../program/program.ts';
import type { FilteredOperation, FindProtection } from './protection.ts';
import { type GuardedSet, type Selections, createSelections } from '../selections/selection.ts';
import type { RenameAliases } from '../selections/client-aliases.ts';

export interface DocumentSource {
  readonly query: string;
  readonly operationName: string | undefined;
  /** The outcome of the rules of the operation's fields; fields whose rules are not met are removed. Undefined: nothing is removed. */
  readonly outcome?: string | undefined;
  /** Whether the client takes incremental delivery. */
  readonly isIncremental?: boolean | undefined;
}

/** A valid operation within all limits that do not depend on variables. */
export interface ReadOperation {
  readonly document: DocumentNode;
  /** Whether aliases of the document are not those of the client (`toResponseKey`). */
  readonly hasRenamedAliases: boolean;
  readonly operation: OperationDefinitionNode;
  readonly fragments: readonly FragmentDefinitionNode[];
  /** The operation without fragment spreads, introspection, and the fields that are denied. */
  readonly expanded: OperationDefinitionNode;
  /** The same with `@defer`; undefined for one without deferred fragments, and for a client that takes one response only. */
  readonly incremental: OperationDefinitionNode | undefined;
  readonly root: GraphQLObjectType;
  readonly selections: Selections;
  /** The operation's selection set. */
  readonly sets: readonly GuardedSet[];
  readonly introspection: (Introspection & { readonly cost: number }) | undefined;
  /** Each rule of the operation's fields once; empty for an operation that every caller may execute. */
  readonly rules: readonly AccessRule[];
  /** The selections that the caller may not read, and the error of each. */
  readonly denied: ReadonlySet<FieldNode>;
  readonly denials: readonly Denial[];
  /** The fields that the caller may not read and gets nevertheless, where denied fields are unprotected. */
  readonly unprotected: readonly Denial[];
  /** The limits that the document exceeds, where these are measured; undefined for none. */
  readonly exceeded: readonly ExceededLimit[] | undefined;
}

/** Throws TooHeavy, InvalidDocument, or a GraphQLError for one error. */
export type OperationReader = (source: DocumentSource, maxWeight: number) => ReadOperation;

/** The largest weight of a light document, about its number of selections. The weight is known before the document is planned. */
export const LIGHT_WEIGHT = 300;
/** The most errors that a response names. */
const MAX_ERRORS = 20;
/** The number of introspected objects that weigh as much as one selection. */
const OBJECTS_PER_SELECTION = 5;

/** Thrown for a document that weighs more than `maxWeight`. */
export class TooHeavy extends Error {}

/** Thrown for a document that is not valid, with each of its errors. */
export class InvalidDocument extends Error {
  readonly errors: readonly GraphQLError[];

  constructor(errors: readonly GraphQLError[]) {
    super('The document is not valid');
    this.errors = errors;
  }
}

export interface ReaderOptions {
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  readonly limits: Limits;
  readonly findProtection: FindProtection;
  readonly renameAliases: RenameAliases;
}

/** Creates the reader of operations. */
export function createOperationReader({ schema, limits, findProtection, renameAliases }: ReaderOptions): OperationReader {
  const completeDirectives = createDirectiveCompleter(schema);
  const sizes = measureIntrospection(schema);
  const introspectionLimits = toIntrospectionLimits(limits);
  const { maxSelections } = toRefusingLimits(limits);
  const expandDeferred = (document: DocumentNode, operationName: string | undefined) => {
    const kept = withoutIncremental(document, { keepsDefer: true });
    const operation = selectOperation(kept, operationName);
    if (operation.operation === OperationTypeNode.SUBSCRIPTION) return undefined;
    const fragments = kept.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
    return expandOperation({
      schema,
      operation: completeDirectives(operation),
      fragments: fragments.map(completeDirectives),
      maxSelections,
    });
  };
  return ({ query, operationName, outcome, isIncremental }, maxWeight) => {
    const weigh = (weight: number) => {
      if (weight > maxWeight) throw new TooHeavy();
    };
    const sent = parseDocument(query, limits);
    weigh(weightOf(sent));
    const measured = new LimitMeter(limits);
    const hasDirectives = checkDocument(sent, { schema, limits, measured });
    const renamed = renameAliases(sent);
    const document = hasDirectives ? withoutIncremental(renamed) : renamed;
    const operation = selectOperation(document, operationName);
    const fragments = document.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
    const selections = createSelections(schema, new Map(fragments.map((each) => [each.name.value, each])));
    const sets: GuardedSet[] = [{ set: operation.selectionSet, when: [] }];
    const protection = findProtection({ operation, fragments });
    const whole: FilteredOperation = { operation, fragments, denied: new Set(), denials: [] };
    const filtered = protection && outcome !== undefined ? protection.filter(outcome) : whole;
    const isUnprotected = limits.deniedFields === 'unprotected';
    const allowed = isUnprotected ? whole : filtered;
    const expanded = expandOperation({
      schema,
      operation: completeDirectives(allowed.operation),
      fragments: allowed.fragments.map(completeDirectives),
      maxSelections,
    });
    const incremental = hasDirectives && isIncremental ? expandDeferred(renamed, operationName) : undefined;
    measured.note('maxSelections', Math.max(expanded.effort, incremental?.effort ?? 0));
    const root = schema.getRootType(operation.operation) as GraphQLObjectType;
    const cost = estimateIntrospection({ schema, sizes, selections, sets, root: root.name });
    weigh(expanded.selections + cost / OBJECTS_PER_SELECTION);
    // The cost of introspection does not depend on variables.
    if (cost > introspectionLimits.maxCost) throw new GraphQLError(tooExpensive(cost, introspectionLimits), { nodes: [operation] });
    const found = findIntrospection({ schema, operation, fragments, selections, sets });
    const introspection = found && { ...found, cost };
    const { denied, denials } = allowed;
    const access = { rules: protection?.rules ?? [], denied, denials, unprotected: isUnprotected ? filtered.denials : [] };
    const hasRenamedAliases = renamed !== sent;
    const parts = { document, hasRenamedAliases, operation, fragments, expanded: expanded.operation, incremental: incremental?.operation };
    return { ...parts, root, selections, sets, introspection, ...access, exceeded: measured.exceeded };
  };
}

/** Returns whether the document has `@defer` or `@stream`. Throws InvalidDocument. */
function checkDocument(
  sent: DocumentNode,
  { schema, limits, measured }: Pick<ReaderOptions, 'schema' | 'limits'> & { readonly measured: LimitMeter },
): boolean {
  const errors = validateOperations(sent, { schema, limits, maxErrors: MAX_ERRORS, measured });
  if (errors.length > 0) throw new InvalidDocument(errors.map(hideValues));
  if (limits.maxDeferred === 0 || !hasIncremental(sent)) return false;
  const faults = checkIncremental(sent, { schema, maxDeferred: toRefusingLimits(limits).maxDeferred });
  if (faults.length > 0) throw new InvalidDocument(faults.slice(0, MAX_ERRORS));
  measured.note('maxDeferred', countIncremental(sent));
  return true;
}

/** Throws GraphQLError without the values of the document. */
function parseDocument(query: string, { maxTokens }: Pick<Limits, 'maxTokens'>): DocumentNode {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    throw error instanceof GraphQLError ? hideValues(error) : error;
  }
}

function selectOperation(document: DocumentNode, operationName: string | undefined): OperationDefinitionNode {
  const operations = document.definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  if (operationName === undefined && operations.length > 1)
    throw new GraphQLError('The document has several operations; name one of them by operationName', { nodes: operations });
  const found = operationName === undefined ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (found) return found;
  const message = operationName === undefined ? 'The document has no operation' : `The document has no operation named "${operationName}"`;
  throw new GraphQLError(message, { nodes: operations.length > 0 ? operations : [document] });
}

/** Estimates the work of validation, which compares fields with each other, and visits all fragments for each operation. */
function weightOf({ definitions }: DocumentNode): number {
  let selections = 0;
  let operations = 0;
  for (const definition of definitions) {
    if (definition.kind === Kind.OPERATION_DEFINITION) operations++;
    visit(definition, {
      SelectionSet(set) {
        selections += set.selections.length;
      },
    });
  }
  return selections * Math.max(1, Math.min(operations, definitions.length - operations));
}
