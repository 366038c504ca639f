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
  parse,
  specifiedRules,
  validate,
} from 'graphql';
import type { PlanStep, Program } from '../execute/program.ts';
import { type Limits, limitOperations } from '../limits/limits.ts';
import { generateActualCost, generateCost } from './cost.ts';
import { describeVariables } from './input-types.ts';
import { type Introspection, findIntrospection } from './introspection.ts';
import { mendOperation } from './mend-operation.ts';
import { mendSupergraph, withoutStandIns } from './mend-supergraph.ts';
import { createPlanCompiler } from './plan-steps.ts';
import { createPublicTest } from './public.ts';
import { type GuardedSet, type Selections, createSelections } from './selection.ts';
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

export interface Planner {
  readonly facts: SupergraphFacts;
  prepare(request: PrepareRequest): Prepared;
  /** Answers introspection that depends on variables; JSON texts by response key. */
  introspect(request: PrepareRequest, variables: Readonly<Record<string, unknown>>): Record<string, string>;
}

/** Throws for a supergraph that is not valid, or that asks for what is not enforced here (`@authenticated`, `@policy`, `@context`, …). */
export function createPlanner(sdl: string, limits: Limits): Planner {
  const mend = mendSupergraph(sdl);
  // What a composition lets through is its affair: a field that can't be resolved as it is asked for is told when it is asked for (`requireCover`).
  const supergraph = Supergraph.build(mend.document, { validateSupergraph: false });
  const planner = new QueryPlanner(supergraph, {});
  const apiSchema = supergraph.apiSchema();
  const schema = toClientSchema(apiSchema, mend.hasStandIns);
  const wholeSchema = supergraph.schema.toGraphQLJSSchema();
  const isPublic = createPublicTest(supergraph.schema, schema);

  const read = ({ query, operationName }: PrepareRequest) => {
    const document = parse(query, { maxTokens: limits.maxTokens });
    const errors = validate(schema, document, [...specifiedRules, limitOperations(limits)], { maxErrors: 20 });
    if (errors.length > 0) throw new Invalid(errors);
    const operation = selectOperation(document, operationName);
    const fragments = document.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
    const selections = createSelections(schema, new Map(fragments.map((each) => [each.name.value, each])));
    const sets: GuardedSet[] = [{ set: operation.selectionSet, when: [] }];
    return {
      document,
      operation,
      fragments,
      selections,
      sets,
      introspection: findIntrospection({ schema, operation, fragments, selections, sets }),
    };
  };

  const plan = (operation: ReturnType<typeof operationFromDocument>, labels: readonly string[]) => {
    try {
      return planner.buildQueryPlan(operation, { overrideConditions: new Map(labels.map((label) => [label, true])) }).node;
    } catch (error) {
      // It asserts that whatever composes can be planned, and not every composition keeps that promise.
      throw new Uncovered(UNRESOLVABLE, { cause: error });
    }
  };

  const compile = (request: PrepareRequest): Program => {
    const { document, operation, selections, sets, introspection } = read(request);
    const root = schema.getRootType(operation.operation) as GraphQLObjectType;
    const planned = operationFromDocument(
      apiSchema,
      mendOperation(document),
      operation.name ? { operationName: operation.name.value } : {},
    );
    const node = plan(planned, request.labels);
    const compiler = createPlanCompiler(wholeSchema, mend);
    const isSubscription = node?.kind === 'Subscription';
    const source = isSubscription ? compiler.compileFetch(node.primary, []) : undefined;
    const steps = compiler.compile(isSubscription ? node.rest : node);
    requireCover({ root, selections, sets, steps: source ? [source] : steps ? [steps] : [] });
    const writer = generateWriter({ schema, root, sets, selections });
    const cost = { schema, supergraph: wholeSchema, root, sets, selections };
    return {
      kind: operation.operation,
      name: operation.name?.value,
      variables: describeVariables(schema, operation),
      plan: steps,
      source,
      code: `return{write:${writer.write},explain:${writer.explain},collect:[${compiler.collect.join(',')}],represent:[${compiler.represent.join(',')}],cost:${generateCost(cost)},actualCost:${generateActualCost(cost)}};`,
      introspection: introspection && toProgram(introspection),
      isPublic: isSubscription && isPublic(document),
    };
  };

  return {
    facts: {
      hash: createHash('sha256').update(sdl).digest('hex').slice(0, 16),
      subgraphs: supergraph.subgraphsMetadata().map(({ name, url }) => ({ name, url })),
      labels: findLabels(mend.document),
    },
    prepare(request) {
      try {
        return { program: compile(request) };
      } catch (error) {
        if (error instanceof Invalid) return { errors: error.errors.map(toPreparedError) };
        if (error instanceof Uncovered) return { errors: [{ message: error.message }], isPlanned: true, reason: String(error.cause) };
        // What parsing and planning refuse is the document's fault; whatever else goes wrong is ours, and no client's to read.
        if (error instanceof GraphQLError) return { errors: [toPreparedError(error)] };
        throw error;
      }
    },
    introspect: (request, variables) => read(request).introspection?.answer(variables) ?? {},
  };
}

class Invalid extends Error {
  readonly errors: readonly GraphQLError[];
  constructor(errors: readonly GraphQLError[]) {
    super('The document is not valid');
    this.errors = errors;
  }
}

class Uncovered extends Error {}

const UNRESOLVABLE = 'The subgraphs can not resolve all that the operation asks for';

function toClientSchema(apiSchema: Schema, hasStandIns: boolean): GraphQLSchema {
  if (!hasStandIns) return apiSchema.toGraphQLJSSchema();
  return buildSchemaFromAST(withoutStandIns(apiSchema.toAST())).toGraphQLJSSchema();
}

function selectOperation({ definitions }: DocumentNode, operationName: string | undefined): OperationDefinitionNode {
  const operations = definitions.filter((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  if (operationName === undefined && operations.length > 1)
    throw new GraphQLError('The document has several operations: name one by operationName');
  const found = operationName === undefined ? operations[0] : operations.find(({ name }) => name?.value === operationName);
  if (!found)
    throw new GraphQLError(
      operationName === undefined ? 'The document has no operation' : `The document has no operation named "${operationName}"`,
    );
  return found;
}

/** The planner leaves out without a word what no subgraph can resolve; a client must not read that as null. Throws Uncovered. */
function requireCover({
  root,
  selections,
  sets,
  steps,
}: {
  root: GraphQLObjectType;
  selections: Selections;
  sets: readonly GuardedSet[];
  steps: readonly PlanStep[];
}): void {
  const covered = new Set<string>();
  const visit = (step: PlanStep) => {
    if (step.kind === 'fetch') {
      if (step.path.length === 0) for (const key of step.keys) covered.add(key);
    } else if (step.kind === 'condition') {
      for (const each of [step.then, step.otherwise]) if (each) visit(each);
    } else step.steps.forEach(visit);
  };
  steps.forEach(visit);
  for (const { key, name } of selections.collect(root, sets))
    if (!name.startsWith('__') && !covered.has(key)) throw new Uncovered(UNRESOLVABLE, { cause: `${root.name}.${name}` });
}

function toProgram(introspection: Introspection): Program['introspection'] {
  return { fixed: introspection.isOpen ? undefined : introspection.answer({}) };
}

function toPreparedError({ message, locations }: GraphQLError): PreparedError {
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
