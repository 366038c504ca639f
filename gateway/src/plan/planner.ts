/**
 * Makes programs of documents: parse, validate, limit, plan, generate. Everything that needs a schema runs in the planner's thread (ADR 7); the
 * serving thread has programs only.
 */
import { createHash } from 'node:crypto';
import { TOO_MANY_FIELD_PAIRS } from '@trestle/schema/field-pairs';
import { type DocumentNode, GraphQLError, Kind } from 'graphql';
import type { AccessRule } from '../access/access-rule.ts';
import type { DeferrableProgram } from '../program/deferred-program.ts';
import type { IntrospectionResults, Location } from '../program/program.ts';
import type { Limits } from '../limits/limits.ts';
import type { OperationDescription } from '../request/operation-description.ts';
import type { DescribeUsage } from './describe/describe-usage.ts';
import { createProgramCompiler } from './compile/compile-program.ts';
import { createAliasRenaming } from './selections/client-aliases.ts';
import { Uncovered } from './selections/cover.ts';
import { describeOperations } from './describe/describe-operations.ts';
import { loadSupergraph } from './supergraph/load-supergraph.ts';
import { createFindProtection } from './operation/protection.ts';
import { type DocumentSource, InvalidDocument, createOperationReader } from './operation/read-operation.ts';

export interface PrepareRequest extends DocumentSource {
  /** Labels of progressive `@override` that are on. */
  readonly labels: readonly string[];
}

export interface PreparedError {
  readonly message: string;
  readonly locations?: readonly Location[] | undefined;
}

export type Prepared =
  | { readonly program: DeferrableProgram }
  /** For a request without an outcome: the rules of the operation's fields, to be decided before it is planned. */
  | { readonly rules: readonly AccessRule[] }
  /** `reason` is for the log. `isPlanned` is true for a valid document that cannot be planned. */
  | { readonly errors: readonly PreparedError[]; readonly isPlanned?: boolean; readonly reason?: string };

export interface SupergraphFacts {
  readonly hash: string;
  readonly subgraphs: readonly { readonly name: string; readonly url: string }[];
  /** Labels of progressive `@override` in the supergraph. */
  readonly labels: readonly string[];
}

export interface Planner {
  readonly facts: SupergraphFacts;
  /** Plans an operation for an outcome of its rules. Throws TooHeavy, before planning, when the weight exceeds `maxWeight`. */
  prepare(request: PrepareRequest, maxWeight?: number): Prepared;
  /**
   * Resolves introspection fields that depend on variables. Throws TooHeavy as `prepare` does, and a GraphQLError when introspection fails.
   */
  introspect(request: PrepareRequest, variables: Readonly<Record<string, unknown>>, maxWeight?: number): IntrospectionResults;
  /** Describes the operations of a document for agents. Throws GraphQLError for a document that is not valid. */
  describe(query: string): OperationDescription[];
}

export interface PlannerOptions {
  readonly keepsFetches?: boolean;
  readonly describeUsage?: DescribeUsage | undefined;
  readonly batchesEntities?: boolean;
}

/**
 * Creates the planner of a supergraph. With `keepsFetches` plans say how long the result of each fetch may be kept, with `describeUsage` programs say what
 * is reported of their use, with `batchesEntities` equal fetches of entities become one. Throws what `loadSupergraph` throws.
 */
export function createPlanner(
  sdl: string,
  limits: Limits,
  { keepsFetches = false, describeUsage, batchesEntities = true }: PlannerOptions = {},
): Planner {
  const loaded = loadSupergraph(sdl, { isIncremental: limits.maxDeferred > 0 });
  const { schema, rules } = loaded;
  const read = createOperationReader({
    schema,
    limits,
    findProtection: createFindProtection(schema, rules),
    renameAliases: createAliasRenaming(loaded.patch.requirements.names),
  });
  const compile = createProgramCompiler(loaded, { limits, keepsFetches, describeUsage, batchesEntities });
  return {
    facts: {
      hash: createHash('sha256').update(sdl).digest('hex').slice(0, 16),
      subgraphs: loaded.supergraph.subgraphsMetadata().map(({ name, url }) => ({ name, url })),
      labels: findLabels(loaded.patch.document),
    },
    prepare(request, maxWeight = Infinity) {
      try {
        const operation = read(request, maxWeight);
        if (operation.rules.length > 0 && request.outcome === undefined) return { rules: operation.rules };
        return { program: compile(operation, request.labels) };
      } catch (error) {
        if (error instanceof InvalidDocument) return { errors: error.errors.map(toPreparedError) };
        if (error instanceof Uncovered) return { errors: [{ message: error.message }], isPlanned: true, reason: String(error.cause) };
        // Errors of parsing and limits are for the client; any other error is a fault of the planner, which clients must not see.
        if (error instanceof GraphQLError) return { errors: [toPreparedError(error)] };
        throw error;
      }
    },
    introspect: (request, variables, maxWeight = Infinity) =>
      read(request, maxWeight).introspection?.answer(variables, limits.maxResponseBytes) ?? {},
    describe: (query) => describeOperations(query, { schema: loaded.schema, maxTokens: limits.maxTokens }),
  };
}

/** The message of graphql-js when it gives up comparing fields that may conflict. */
const ABORTED = 'Validation aborted.';

/** Returns an error as plain data, which can be sent to another thread. */
export function toPreparedError({ message: given, locations }: GraphQLError): PreparedError {
  const message = given === ABORTED ? TOO_MANY_FIELD_PAIRS : given;
  return { message, ...(locations && { locations: locations.map(({ line, column }) => ({ line, column })) }) };
}

/** What composition accepts as a share of requests. */
const SHARE = /^percent\((?:\d{1,2}(?:\.\d{1,8})?|100)\)$/;

/**
 * Returns the values of `@join__field(overrideLabel:)` of the whole supergraph. Throws an Error for a share that composition does not accept: a label
 * such as `percent(x)` would never be active.
 */
function findLabels({ definitions }: DocumentNode): string[] {
  const labels = new Set<string>();
  for (const definition of definitions) {
    if (definition.kind !== Kind.OBJECT_TYPE_DEFINITION && definition.kind !== Kind.INTERFACE_TYPE_DEFINITION) continue;
    for (const { directives = [] } of definition.fields ?? [])
      for (const { arguments: given = [] } of directives)
        for (const { name, value } of given) if (name.value === 'overrideLabel' && value.kind === Kind.STRING) labels.add(value.value);
  }
  const wrong = [...labels].find((label) => label.startsWith('percent(') && !SHARE.test(label));
  if (wrong !== undefined)
    throw new Error(`The supergraph is not valid: the label \`${wrong}\` of @override must be percent(N) with N from 0 to 100.`);
  return [...labels];
}
