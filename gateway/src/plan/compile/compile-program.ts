/** Plans an operation, and generates the code that runs its plan. */
import { operationFromDocument } from '@apollo/federation-internals';
import { type DocumentNode, Kind, type OperationDefinitionNode, OperationTypeNode, type SelectionSetNode } from 'graphql';
import type { DeferrableProgram } from '../../program/deferred-program.ts';
import type { Limits } from '../../limits/limits.ts';
import { askOwners } from '../corrections/ask-owners.ts';
import { createFindCacheRule } from '../caching/cache-control.ts';
import { createAssumedSizes } from '../cost/assumed-sizes.ts';
import { generateActualCost, generateCost } from '../cost/cost.ts';
import { compileDeferred } from './compile-deferred.ts';
import { UNRESOLVABLE, Uncovered, requireCover } from '../selections/cover.ts';
import { createFindFetchCaching } from '../caching/fetch-caching.ts';
import { describeVariables, locationOf } from '../selections/input-types.ts';
import type { DescribeUsage } from '../describe/describe-usage.ts';
import { keepLiterals } from '../selections/kept-literals.ts';
import type { LoadedSupergraph } from '../supergraph/load-supergraph.ts';
import { findOwners } from '../selections/owners.ts';
import { planPatched } from '../corrections/patch-operation.ts';
import { withTypeConditions } from '../corrections/patch-type-conditions.ts';
import { compilePlan } from '../steps/plan-drafts.ts';
import { PlanCompiler } from '../steps/plan-steps.ts';
import { createPublicTest } from './public.ts';
import type { ReadOperation } from '../operation/read-operation.ts';
import { renameReserved } from '../selections/reserved-variables.ts';
import { describeShape } from './shape.ts';
import { findResultTypes } from './result-types.ts';
import { createFindSliced } from '../cost/slicing.ts';
import { splitByType } from '../corrections/split-by-type.ts';
import { generateWriter } from './writer-code.ts';

/** `labels` are those of progressive `@override` that are on. Throws Uncovered for an operation that the subgraphs cannot resolve. */
export type ProgramCompiler = (read: ReadOperation, labels: readonly string[]) => DeferrableProgram;

export interface ProgramCompilerOptions {
  readonly limits: Limits;
  /** Whether plans say how long the result of each fetch may be kept. */
  readonly keepsFetches: boolean;
  /** Describes what programs say of their use; undefined when usage is not reported. */
  readonly describeUsage: DescribeUsage | undefined;
  /** Whether equal fetches of entities become one. */
  readonly batchesEntities: boolean;
}

export function createProgramCompiler(loaded: LoadedSupergraph, options: ProgramCompilerOptions): ProgramCompiler {
  const { patch, supergraph, schema, wholeSchema } = loaded;
  const [owners, isPublic] = [findOwners(wholeSchema), createPublicTest(supergraph.schema, schema)];
  const findFetchCaching = options.keepsFetches ? createFindFetchCaching(wholeSchema) : undefined;
  const [findCacheRule, findSliced] = [createFindCacheRule(schema, wholeSchema), createFindSliced(schema, wholeSchema)];
  const [assumedSizeOf, plan] = [createAssumedSizes(wholeSchema, options.limits.assumedListSizes), createPlan(loaded)];

  return (read, labels) => {
    const { document, hasRenamedAliases, operation, fragments, expanded, root, selections, sets, introspection, denied } = read;
    const renamed = renameReserved(expanded);
    const asked = askOwners({ schema, owners, operation: renamed.operation });
    const facts = { ...patch, schema };
    const isWhole = operation.operation === OperationTypeNode.SUBSCRIPTION;
    const planOperation = (definition: OperationDefinitionNode) =>
      planPatched(
        { document: { kind: Kind.DOCUMENT, definitions: [keepLiterals(schema, definition)] } as const, isWhole, facts },
        (patched) => splitByType(plan(patched, labels), patched, { ...patch, schema: wholeSchema }),
      );
    const node = isEmpty(expanded.selectionSet) ? undefined : planOperation(asked);
    // Without denied fields, introspection, and variables and aliases that fetches know by another name.
    const isPlain = denied.size === 0 && renamed.aliases.size === 0 && !hasRenamedAliases && !introspection && !isWhole;
    const { compiler, source, steps, bytes } = compilePlan({
      node,
      compiler: { schema: wholeSchema, patch, owners, findFetchCaching, batchesEntities: options.batchesEntities },
      bytes: isPlain ? { schema, wholeSchema, root, sets, selections } : undefined,
    });
    requireCover({ root, selections, sets, denied, steps: source ? [source] : steps ? [steps] : [] });
    const writer = generateWriter({ schema, root, sets, selections, denied });
    const cost = { schema, supergraph: wholeSchema, root, sets, selections };
    const deferred =
      read.incremental && node && renamed.aliases.size === 0
        ? compileDeferred(read, {
            schema,
            compiler: new PlanCompiler({ schema: wholeSchema, patch, owners, findFetchCaching: undefined, isDeferred: true }),
            plan: (definition) => planOperation(askOwners({ schema, owners, operation: definition })),
          })
        : undefined;
    return {
      kind: operation.operation,
      name: operation.name?.value,
      location: locationOf(operation),
      variables: describeVariables(schema, operation, { fragments, aliases: renamed.aliases }),
      plan: steps,
      source,
      bytes: bytes?.program,
      code: `return{write:${writer.write},explain:${writer.explain},collect:[${compiler.collect.join(',')}],represent:[${compiler.represent.join(',')}],cost:${generateCost({ ...cost, introspection: introspection?.cost ?? 0, assumedSizeOf })},actualCost:${generateActualCost(cost)},walkers:${bytes?.program ? bytes.code : '()=>[]'},argumentCosts:${bytes?.program ? bytes.argumentCosts : '()=>[]'}};`,
      introspection: introspection && {
        cost: introspection.cost,
        fixed: introspection.isOpen ? undefined : introspection.answer({}, options.limits.maxResponseBytes),
      },
      shape: describeShape(expanded.selectionSet),
      // The result of an operation with rules depends on the caller.
      isPublic: node?.kind === 'Subscription' && read.rules.length === 0 && isPublic(document),
      sliced: findSliced(expanded),
      caching: findCacheRule(read),
      types: findResultTypes(schema, { type: root, set: expanded.selectionSet }),
      denials: read.denials,
      ...toReported(read),
      usage: options.describeUsage?.(schema, read),
      ...(deferred && { deferred }),
    };
  };
}

/** Returns what is reported of an operation when it is executed; nothing of nearly all. */
function toReported({ unprotected, exceeded }: ReadOperation): Pick<DeferrableProgram, 'unprotected' | 'exceeded'> {
  return { ...(unprotected.length > 0 && { unprotected }), ...(exceeded && { exceeded }) };
}

/** Returns a function that plans an operation. It throws Uncovered. */
function createPlan({ apiSchema, planner }: LoadedSupergraph) {
  return (document: DocumentNode, labels: readonly string[]) => {
    try {
      const operation = operationFromDocument(apiSchema, document);
      const overrideConditions = new Map(labels.map((label) => [label, true]));
      return withTypeConditions(() => planner.buildQueryPlan(operation, { overrideConditions }).node);
    } catch (error) {
      // Apollo's planner assumes that every supergraph that composes can be planned, which is not so.
      throw new Uncovered(UNRESOLVABLE, { cause: error });
    }
  };
}

/** Whether a selection set has no field of a subgraph. */
function isEmpty({ selections }: SelectionSetNode): boolean {
  return selections.every((each) =>
    each.kind === Kind.FIELD ? each.name.value === '__typename' : each.kind === Kind.INLINE_FRAGMENT && isEmpty(each.selectionSet),
  );
}
