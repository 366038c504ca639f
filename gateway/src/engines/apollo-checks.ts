/**
 * What comes before the execution in the engine `apollo`: reads the document, coerces the variables and estimates the cost as the engine `trestle` does,
 * so that limits, rate limits and messages are the same. Apollo Server checks the document again; its own messages would quote values.
 */
import { toChallenge } from '@trestle/identity/credentials/challenge';
import { ERRORS, fail, toFault } from '@trestle/schema/errors';
import { type DocumentNode, GraphQLError, type GraphQLFormattedError, type GraphQLSchema, buildASTSchema, visit } from 'graphql';
import { formatRefusal } from '../errors/refusal-result.ts';
import type { AccessRules } from '../plan/supergraph/access-directives.ts';
import { createFindCacheRule } from '../plan/caching/cache-control.ts';
import { type AssumedSizeOf, createAssumedSizes } from '../plan/cost/assumed-sizes.ts';
import { generateCost } from '../plan/cost/cost.ts';
import { describeVariables, locationOf } from '../plan/selections/input-types.ts';
import { toPreparedError } from '../plan/planner.ts';
import { createFindProtection } from '../plan/operation/protection.ts';
import { createFindSliced } from '../plan/cost/slicing.ts';
import { createAliasRenaming } from '../plan/selections/client-aliases.ts';
import { readRequirements } from '../plan/selections/requirements.ts';
import { InvalidDocument, type ReadOperation, createOperationReader } from '../plan/operation/read-operation.ts';
import { isRenamed, toResponseKey } from '../program/response-key.ts';
import { type CacheRule, toPlannedPolicy } from '../program/cache-rule.ts';
import { compileCost } from '../program/operation.ts';
import type { CachePolicy } from '../request/cache-policy.ts';
import type { OperationRequest } from '../request/operation.ts';
import type { DocumentRequest } from '../supergraph/prepared-operations.ts';
import { type CheckParts, type CheckableOperation, checkOperation } from './check-operation.ts';
import { documentKey, keep } from './keep-documents.ts';

/** An operation that may be executed. */
export interface CheckedOperation {
  readonly kind: CheckableOperation['kind'];
  readonly name: string | undefined;
  /** The variables with the operation's defaults. */
  readonly conditions: Readonly<Record<string, unknown>>;
  /** The estimated cost. */
  readonly cost: number;
  /** How long its result may be cached by `@cacheControl`. */
  readonly caching: CachePolicy | undefined;
}

interface PreparedOperation extends CheckableOperation {
  readonly caching: CacheRule | undefined;
}

/** Checks operations of one supergraph. Throws for an operation that is refused; {@link toRefusal} describes it. */
export type CheckOperation = (request: OperationRequest) => CheckedOperation;

/** The schemas of a supergraph, and the limits. */
export interface CheckOptions extends CheckParts {
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  /** The supergraph, which has `@cost`, `@listSize` and `@cacheControl`. */
  readonly document: DocumentNode;
  readonly rules: AccessRules;
}

/** Creates the checks. */
export function createOperationChecks({ schema, document, rules, ...parts }: CheckOptions): CheckOperation {
  const { limits } = parts;
  const supergraph = buildASTSchema(document, { assumeValid: true, assumeValidSDL: true });
  // The cost includes fields that the caller may not read, as in the engine `trestle`.
  const rename = createAliasRenaming(readRequirements(document).names);
  const renameAliases = (operation: DocumentNode) => refuseRenamed(rename(operation));
  const read = createOperationReader({ schema, limits, findProtection: () => undefined, renameAliases });
  const findProtection = createFindProtection(schema, rules);
  const findCacheRule = createFindCacheRule(schema, supergraph);
  const findSliced = createFindSliced(schema, supergraph);
  const assumedSizeOf = createAssumedSizes(supergraph, limits.assumedListSizes);
  const known = new Map<string, PreparedOperation>();
  const prepare = (request: DocumentRequest) => {
    const found = read(request, Infinity);
    const { operation, fragments } = found;
    return {
      kind: operation.operation,
      name: operation.name?.value,
      location: locationOf(operation),
      variables: describeVariables(schema, operation, { fragments, aliases: new Map() }),
      cost: compileCost(estimate(found, { schema, supergraph, assumedSizeOf })),
      sliced: findSliced(found.expanded),
      exceeded: found.exceeded,
      caching: findCacheRule({ ...found, rules: findProtection({ operation, fragments })?.rules ?? [] }),
    };
  };
  return (request) => {
    const operation = keep(known, documentKey(request), () => prepare(request));
    const { kind, name } = operation;
    const { cost, conditions } = checkOperation(operation, request, parts);
    if (kind === 'subscription')
      throw fail('NOT_IMPLEMENTED', 'The engine `apollo` does not support subscriptions. Use GATEWAY_ENGINE=trestle.');
    return { kind, name, conditions, cost, caching: toPlannedPolicy(operation.caching, conditions) };
  };
}

/**
 * Throws GraphQLError for a document with renamed aliases. @apollo/gateway would read the field with such an alias as a field of a key or of
 * `@requires`, so a client would choose the values that it sends to subgraphs.
 */
function refuseRenamed(document: DocumentNode): DocumentNode {
  visit(document, {
    Field({ alias }) {
      if (!alias || !isRenamed(alias.value)) return;
      const message = `The engine "apollo" cannot execute the alias "${toResponseKey(alias.value)}", a name that the gateway selects itself. Use another alias.`;
      throw new GraphQLError(message, { nodes: [alias] });
    },
  });
  return document;
}

function estimate(
  { root, sets, selections, introspection }: ReadOperation,
  parts: Record<'schema' | 'supergraph', GraphQLSchema> & { readonly assumedSizeOf: AssumedSizeOf },
): string {
  return generateCost({ ...parts, root, sets, selections, introspection: introspection?.cost ?? 0 });
}

/** The errors of a refused operation, with its HTTP status and challenge where it has its own. */
export interface Refusal {
  readonly errors: readonly GraphQLFormattedError[];
  readonly status: number | undefined;
  readonly challenge: string | undefined;
}

/** Describes an error of the checks, or of the rate limit, as the engine `trestle` does. */
export function toRefusal(error: unknown, requestId: string): Refusal {
  const invalid = error instanceof InvalidDocument ? error.errors : error instanceof GraphQLError ? [error] : undefined;
  if (invalid) {
    const errors = invalid.map((each) => ({ ...toPreparedError(each), extensions: { code: 'VALIDATION_ERROR', requestId } }));
    return { errors: errors as GraphQLFormattedError[], status: undefined, challenge: undefined };
  }
  const fault = toFault(error);
  return {
    errors: formatRefusal(fault, requestId),
    status: fault.code === 'VALIDATION_ERROR' ? undefined : ERRORS[fault.code].status,
    challenge: toChallenge(fault),
  };
}
