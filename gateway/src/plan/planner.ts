/**
 * Makes programs of operations: parse, validate, limit, plan, generate. Everything that needs a schema is here, and runs in the planner's thread
 * (ADR 7): what serves requests sees programs only.
 */
import { createHash } from 'node:crypto';
import { type Schema, Supergraph, buildSchemaFromAST, operationFromDocument } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  specifiedRules,
  validate,
  validateSchema,
  visit,
} from 'graphql';
import type { Program } from '../program/program.ts';
import { type Limits, limitOperations, tooExpensive } from '../limits/limits.ts';
import { askOwners } from './ask-owners.ts';
import { generateActualCost, generateCost } from './cost.ts';
import { UNRESOLVABLE, Uncovered, requireCover } from './cover.ts';
import { expandOperation } from './expand-operation.ts';
import { describeVariables, locationOf } from './input-types.ts';
import { type Introspection, findIntrospection } from './introspection.ts';
import { estimateIntrospection, measureIntrospection } from './introspection-cost.ts';
import { defineKnownDirectives } from './known-directives.ts';
import { planMended } from './mend-operation.ts';
import { mendSupergraph, withoutStandIns } from './mend-supergraph.ts';
import { mendVariableCollector } from './mend-variables.ts';
import { findOwners } from './owners.ts';
import { createDirectiveCompleter, keepOperationDirectives } from './operation-directives.ts';
import { withTypeConditions } from './patch-type-conditions.ts';
import { createPlanCompiler } from './plan-steps.ts';
import { createPublicTest } from './public.ts';
import { renameReserved } from './reserved-variables.ts';
import { type GuardedSet, createSelections } from './selection.ts';
import { describeShape } from './shape.ts';
import { splitByType } from './split-by-type.ts';
import { renameTypenameAliases } from './typename-alias.ts';
import { generateWriter } from './writer-code.ts';

export interface PrepareRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  /** Labels of `@override` that hold. */
  readonly labels: readonly string[];
}

export interface PreparedError {
  readonly message: string;
  readonly locations?: readonly { readonly line: number; readonly column: number }[] | undefined;
}

export type Prepared =
  | { readonly program: Program }
  /** `reason` is for the log; `isPlanned` tells a document that is valid, and that the subgraphs can't answer all the same, from one that is not valid. */
  | { readonly errors: readonly PreparedError[]; readonly isPlanned?: boolean; readonly reason?: string };

export interface SupergraphFacts {
  readonly hash: string;
  readonly subgraphs: readonly { readonly name: string; readonly url: string }[];
  /** Labels that `@override` asks about. */
  readonly labels: readonly string[];
}

/** How much work a document is, about in selections; known before the work is done. */
export const LIGHT_WEIGHT = 300;
/** Introspected objects that are as much work as one selection. */
const OBJECTS_PER_SELECTION = 5;

/** Thrown for a document that is more work than the caller of the planner wants to do now. */
export class TooHeavy extends Error {}

export interface Planner {
  readonly facts: SupergraphFacts;
  /** Throws TooHeavy once it is known that the weight exceeds `maxWeight`, before the work is done. */
  prepare(request: PrepareRequest, maxWeight?: number): Prepared;
  /** Answers introspection that depends on variables; JSON texts by response key. Throws TooHeavy as `prepare` does, a GraphQLError for one that fails. */
  introspect(request: PrepareRequest, variables: Readonly<Record<string, unknown>>, maxWeight?: number): Record<string, string>;
}

/** Throws for a supergraph that is not valid, or that asks for what is not enforced here (`@authenticated`, `@policy`, `@context`, …). */
export function createPlanner(sdl: string, limits: Limits): Planner {
  mendVariableCollector();
  const mend = mendSupergraph(sdl);
  // What a composition lets through is its affair: a field that can't be resolved as it is asked for is told when it is asked for (`requireCover`).
  const supergraph = Supergraph.build(keepOperationDirectives(defineKnownDirectives(mend.document)), { validateSupergraph: false });
  const planner = new QueryPlanner(supergraph, { typeConditionedFetching: true });
  const apiSchema = supergraph.apiSchema();
  const schema = toClientSchema(apiSchema, mend.hasStandIns);
  // graphql-js refuses every document of a schema that is not valid: better to refuse the schema, and to serve on with the last one.
  const problems = validateSchema(schema);
  if (problems.length > 0) throw new Error(`The supergraph is not valid: ${problems.map(({ message }) => message).join(' ')}`);
  const wholeSchema = supergraph.schema.toGraphQLJSSchema();
  const owners = findOwners(wholeSchema);
  const isPublic = createPublicTest(supergraph.schema, schema);

  const completeDirectives = createDirectiveCompleter(schema);
  const sizes = measureIntrospection(schema);

  const read = ({ query, operationName }: PrepareRequest, maxWeight: number) => {
    const weigh = (weight: number) => {
      if (weight > maxWeight) throw new TooHeavy();
    };
    const sent = parse(query, { maxTokens: limits.maxTokens });
    weigh(weightOf(sent));
    const errors = validate(schema, sent, [...specifiedRules, limitOperations(limits)], { maxErrors: 20 });
    if (errors.length > 0) throw new Invalid(errors);
    const document = renameTypenameAliases(sent);
    const operation = selectOperation(document, operationName);
    const fragments = document.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
    const selections = createSelections(schema, new Map(fragments.map((each) => [each.name.value, each])));
    const sets: GuardedSet[] = [{ set: operation.selectionSet, when: [] }];
    const expanded = expandOperation({
      schema,
      operation: completeDirectives(operation),
      fragments: fragments.map(completeDirectives),
      maxSelections: limits.maxSelections,
    });
    const root = schema.getRootType(operation.operation) as GraphQLObjectType;
    const cost = estimateIntrospection({ schema, sizes, selections, sets, root: root.name });
    weigh(expanded.selections + cost / OBJECTS_PER_SELECTION);
    // Before it is run: what introspection costs does not depend on variables.
    if (cost > limits.maxCost) throw new GraphQLError(tooExpensive(cost, limits), { nodes: [operation] });
    const introspection = findIntrospection({ schema, operation, fragments, selections, sets });
    return {
      document,
      operation,
      fragments,
      expanded: expanded.operation,
      root,
      selections,
      sets,
      introspection: introspection && { ...introspection, cost },
    };
  };

  const plan = (document: DocumentNode, labels: readonly string[]) => {
    try {
      const operation = operationFromDocument(apiSchema, document);
      const overrideConditions = new Map(labels.map((label) => [label, true]));
      return withTypeConditions(() => planner.buildQueryPlan(operation, { overrideConditions }).node);
    } catch (error) {
      // It asserts that whatever composes can be planned, and not every composition keeps that promise.
      throw new Uncovered(UNRESOLVABLE, { cause: error });
    }
  };

  const compile = (request: PrepareRequest, maxWeight: number): Program => {
    const { document, operation, fragments, expanded, root, selections, sets, introspection } = read(request, maxWeight);
    const renamed = renameReserved(expanded);
    const asked = askOwners({ schema, owners, operation: renamed.operation });
    const facts = { ...mend, schema };
    const isWhole = operation.operation === OperationTypeNode.SUBSCRIPTION;
    const node = planMended({ document: { kind: Kind.DOCUMENT, definitions: [asked] }, isWhole, facts }, (mended) =>
      splitByType(plan(mended, request.labels), mended, { ...mend, schema: wholeSchema }),
    );
    const compiler = createPlanCompiler({ schema: wholeSchema, mend, owners });
    const isSubscription = node?.kind === 'Subscription';
    const source = isSubscription ? compiler.compileSource(node.primary) : undefined;
    const steps = compiler.compile(isSubscription ? node.rest : node);
    requireCover({ root, selections, sets, steps: source ? [source] : steps ? [steps] : [] });
    const writer = generateWriter({ schema, root, sets, selections });
    const cost = { schema, supergraph: wholeSchema, root, sets, selections };
    return {
      kind: operation.operation,
      name: operation.name?.value,
      location: locationOf(operation),
      variables: describeVariables(schema, operation, { fragments, aliases: renamed.aliases }),
      plan: steps,
      source,
      code: `return{write:${writer.write},explain:${writer.explain},collect:[${compiler.collect.join(',')}],represent:[${compiler.represent.join(',')}],cost:${generateCost({ ...cost, introspection: introspection?.cost ?? 0 })},actualCost:${generateActualCost(cost)}};`,
      introspection: introspection && toProgram(introspection, limits),
      shape: describeShape(expanded.selectionSet),
      isPublic: isSubscription && isPublic(document),
    };
  };

  return {
    facts: {
      hash: createHash('sha256').update(sdl).digest('hex').slice(0, 16),
      subgraphs: supergraph.subgraphsMetadata().map(({ name, url }) => ({ name, url })),
      labels: findLabels(mend.document),
    },
    prepare(request, maxWeight = Infinity) {
      try {
        return { program: compile(request, maxWeight) };
      } catch (error) {
        if (error instanceof Invalid) return { errors: error.errors.map(toPreparedError) };
        if (error instanceof Uncovered) return { errors: [{ message: error.message }], isPlanned: true, reason: String(error.cause) };
        // What parsing and planning refuse is the document's fault; whatever else goes wrong is ours, and no client's to read.
        if (error instanceof GraphQLError) return { errors: [toPreparedError(error)] };
        throw error;
      }
    },
    introspect: (request, variables, maxWeight = Infinity) =>
      read(request, maxWeight).introspection?.answer(variables, limits.maxResponseBytes) ?? {},
  };
}

class Invalid extends Error {
  readonly errors: readonly GraphQLError[];
  constructor(errors: readonly GraphQLError[]) {
    super('The document is not valid');
    this.errors = errors;
  }
}

function toClientSchema(apiSchema: Schema, hasStandIns: boolean): GraphQLSchema {
  if (!hasStandIns) return apiSchema.toGraphQLJSSchema();
  return buildSchemaFromAST(withoutStandIns(apiSchema.toAST())).toGraphQLJSSchema();
}

function selectOperation(document: DocumentNode, operationName: string | undefined): OperationDefinitionNode {
  const operations = document.definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  if (operationName === undefined && operations.length > 1)
    throw new GraphQLError('The document has several operations; name one of them by operationName', { nodes: operations });
  const found = operationName === undefined ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (!found)
    throw new GraphQLError(
      operationName === undefined ? 'The document has no operation' : `The document has no operation named "${operationName}"`,
      { nodes: operations.length > 0 ? operations : [document] },
    );
  return found;
}

/** What parsing does not yet bound: validation compares fields with each other, and looks at all fragments for each operation. */
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

function toProgram(introspection: Introspection & { readonly cost: number }, { maxResponseBytes }: Limits): Program['introspection'] {
  return { cost: introspection.cost, fixed: introspection.isOpen ? undefined : introspection.answer({}, maxResponseBytes) };
}

/** graphql-js ends the comparison of fields that may conflict after so many steps, and says no more than that it has ended. */
const ABORTED = 'Validation aborted.';

export function toPreparedError({ message: given, locations }: GraphQLError): PreparedError {
  const message = given === ABORTED ? 'The document is too complex to validate; select each field once and spread fewer fragments' : given;
  return { message, ...(locations && { locations: locations.map(({ line, column }) => ({ line, column })) }) };
}

/** `@join__field(overrideLabel:)` of the whole supergraph. */
function findLabels({ definitions }: DocumentNode): string[] {
  const labels = new Set<string>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    for (const { directives = [] } of definition.fields ?? [])
      for (const { arguments: given = [] } of directives)
        for (const { name, value } of given) if (name.value === 'overrideLabel' && value.kind === Kind.STRING) labels.add(value.value);
  }
  return [...labels];
}
