/** Turns a query plan into the steps of a program, and generates the code of each fetch: where its objects are, and their representations. */
import type { FetchDataRewrite, FetchNode, PlanNode } from '@apollo/query-planner';
import { type GraphQLSchema, isInterfaceType } from 'graphql';
import type { KeyRename } from '../../program/key-rename.ts';
import type { EntityFetch, FetchStep, GraphStep, Place, PlanStep } from '../../program/program.ts';
import { type Beginning, type Located, childrenOf, joinAlike } from './alike-nodes.ts';
import { type Task, batchEntities } from './batch-entities.ts';
import type { FetchSource } from '../bytes/requested-fetch.ts';
import { CONTEXTUAL, compileContexts, requireContexts } from './contextual-fetch.ts';
import type { FindFetchCaching } from '../caching/fetch-caching.ts';
import { keysOf } from '../caching/fetch-keys.ts';
import type { SupergraphPatch } from '../supergraph/patch-supergraph.ts';
import { type Owners, decidedTypes } from '../selections/owners.ts';
import { restoreLiterals } from '../selections/kept-literals.ts';
import { dependsOnTypes, generateCollector, groupByPath, joinPlaces, readPlace } from '../selections/places.ts';
import { generateRepresentation, soleKeyOf } from './representation-code.ts';
import { type GuardedFetch, guardRequirements } from '../selections/requirements.ts';
import { splitFetch } from '../corrections/split-fetch.ts';
import { ON, typesOf } from '../selections/type-names.ts';
import type { TypedFetch } from '../selections/typed-fetch.ts';

type CompiledFetch = GuardedFetch & Pick<TypedFetch, 'onlyFor'>;

export interface PlanCompilerInput {
  /** The schema of the whole supergraph, with the types and fields that clients cannot see. */
  readonly schema: GraphQLSchema;
  readonly patch: SupergraphPatch;
  readonly owners: Owners;
  /** Undefined where no results of fetches are kept. */
  readonly findFetchCaching: FindFetchCaching | undefined;
  /** Whether the plan is of deferred parts: they hold objects of the result between their fetches, which must not be replaced by others then. */
  readonly isDeferred?: boolean;
  /** Whether equal fetches of entities at several paths become one (ADR 50). */
  readonly batchesEntities?: boolean;
}

/** Compiles one plan. */
export class PlanCompiler {
  /** Expressions of type `Compiled['collect'][number]` and `Compiled['represent'][number]`. */
  readonly collect: string[] = [];
  readonly represent: string[] = [];
  /** What each fetch was compiled from, by its index. */
  readonly sources: FetchSource[] = [];
  readonly #input: PlanCompilerInput;
  /** Numbers of equal requests. */
  readonly #seen = new Map<string, number>();
  /** Places that depend on types. */
  readonly #typed: Place[] = [];
  /** The names of the interfaces of the supergraph. */
  readonly interfaces: readonly string[];
  /** Whether any fetch has contextual arguments: an entity then has different fields in different places. */
  #hasContexts = false;
  #hasBatches = false;

  constructor(input: PlanCompilerInput) {
    this.#input = input;
    this.interfaces = Object.values(input.schema.getTypeMap())
      .filter(isInterfaceType)
      .map(({ name }) => name);
  }

  /** Whether any fetch that was compiled has contextual arguments. */
  get hasContexts(): boolean {
    return this.#hasContexts;
  }

  /** Whether fetches of entities at several paths became one. */
  get hasBatches(): boolean {
    return this.#hasBatches;
  }

  compile(node: PlanNode | undefined): PlanStep | undefined {
    return node && this.#visitWhole([{ node, place: [] }]);
  }

  /** Compiles the fetch that a subscription begins with. */
  compileSource(node: FetchNode): FetchStep {
    return this.#compileFetch(node, [[]]);
  }

  /** Compiles a whole plan, or all that a condition is around. */
  #visitWhole(alike: readonly Located[]): PlanStep {
    const [only, ...others] = alike as readonly [Located, ...Located[]];
    const { isDeferred = false, batchesEntities = false, schema } = this.#input;
    const tasks =
      others.length > 0 || only.place.length > 0 || isDeferred || !batchesEntities
        ? undefined
        : batchEntities(only.node, (type) => typesOf(schema, type));
    if (!tasks) return this.#visit(alike);
    this.#hasBatches = true;
    return toGraph(
      tasks,
      tasks.map((each) => this.#visit(each.alike)),
    );
  }

  /** Compiles nodes of a plan that differ only in the places of their objects to one step. */
  #visit(alike: readonly Located[]): PlanStep {
    const { node } = alike[0] as Located;
    const visit = (each: readonly Located[]) => this.#visit(each);
    switch (node.kind) {
      case 'Sequence':
        return { kind: 'sequence', steps: childrenOf(alike).map(visit), ...('begins' in node && { begins: (node as Beginning).begins }) };
      case 'Parallel':
        return { kind: 'parallel', steps: joinAlike(childrenOf(alike)).map(visit) };
      case 'Flatten': {
        const namesOf = (type: string) => typesOf(this.#input.schema, type);
        return visit(
          (alike as readonly Located<typeof node>[]).map((each) => ({
            node: each.node.node,
            place: readPlace(each.place, each.node.path, namesOf),
          })),
        );
      }
      case 'Condition': {
        const clause = (name: 'ifClause' | 'elseClause') =>
          node[name] &&
          this.#visitWhole((alike as readonly Located<typeof node>[]).map((each) => ({ ...each, node: each.node[name] as PlanNode })));
        return { kind: 'condition', variable: node.condition, then: clause('ifClause'), otherwise: clause('elseClause') };
      }
      case 'Fetch':
        return this.#splitFetch(node, groupByPath(alike.map(({ place }) => place)).flatMap(joinPlaces));
      case 'Defer':
        throw new Error('A deferred part must be compiled on its own');
    }
  }

  #splitFetch(node: FetchNode, places: readonly Place[]): PlanStep {
    const { schema, patch } = this.#input;
    const guarded = node.requires ? { ...node, requires: guardRequirements(node, { schema, requirements: patch.requirements }) } : node;
    const fetches = splitFetch(guarded, patch).map((each) => this.#compileFetch(each, places));
    return fetches.length === 1 ? (fetches[0] as FetchStep) : { kind: 'parallel', steps: fetches };
  }

  #compileFetch(node: CompiledFetch, places: readonly Place[]): FetchStep {
    const { schema, patch, findFetchCaching } = this.#input;
    const operation = restoreLiterals(patch.restoreOperation(node.operation));
    const contexts = compileContexts({ node, operation }, schema);
    requireContexts(node.variableUsages ?? [], contexts);
    if (contexts) this.#hasContexts = true;
    const prefix = `{"query":${JSON.stringify(operation)},${node.operationName === undefined ? '' : `"operationName":${JSON.stringify(node.operationName)},`}"variables":{`;
    const seen = this.#seen;
    seen.set(`${node.serviceName}${prefix}`, (seen.get(`${node.serviceName}${prefix}`) ?? 0) + 1);
    const paths = groupByPath(places);
    const [path = []] = paths.map(([place = []]) => place.map(({ key }) => key));
    this.#typed.push(...places.filter((each) => each.some(({ types }) => types !== undefined)));
    const step: FetchStep = {
      kind: 'fetch',
      index: this.sources.length,
      service: node.serviceName,
      operationKind: node.operationKind,
      operation,
      operationName: node.operationName,
      prefix,
      variables: (node.variableUsages ?? []).filter((name) => !CONTEXTUAL.test(name)),
      path,
      paths: paths.map(([place = []]) => place.map(({ key }) => key)),
      places,
      collectors: path.length > 0 ? paths.map((each) => this.collect.push(generateCollector(each)) - 1) : [],
      entities: node.requires && this.#compileEntities(node, places),
      contexts,
      rewrites: (node.outputRewrites ?? []).map((rewrite) => toRename(schema, rewrite)),
      keys: [
        ...keysOf(operation, node.requires !== undefined),
        ...(node.outputRewrites ?? []).flatMap((each) => (each.kind === 'KeyRenamer' ? [each.renameKeyTo] : [])),
      ],
      // Read when the whole plan has been compiled.
      get isRepeated() {
        return (seen.get(`${node.serviceName}${prefix}`) ?? 0) > 1;
      },
      // The fields around its entities are part of what it depends on.
      caching: contexts ? undefined : findFetchCaching?.(operation),
    };
    this.sources.push(this.#toSource(node, step));
    return step;
  }

  #toSource(node: CompiledFetch, step: FetchStep): FetchSource {
    const { patch } = this.#input;
    return {
      step,
      requires: node.requires && patch.restoreRequires(node.requires),
      hasInputRewrites: (node.inputRewrites ?? []).length > 0,
      onlyFor: node.onlyFor,
      keysOf: (type) => patch.requirements.keysOf(node.serviceName, type),
    };
  }

  #compileEntities(node: CompiledFetch, places: readonly Place[]): EntityFetch {
    const { schema, patch, owners, isDeferred = false } = this.#input;
    const rewrites = node.inputRewrites ?? [];
    const requires = patch.restoreRequires(node.requires ?? []);
    const typed = this.#typed;
    const hasContexts = () => this.#hasContexts;
    return {
      represent:
        this.represent.push(
          generateRepresentation(schema, {
            requires,
            rewrites,
            keysOf: (type) => patch.requirements.keysOf(node.serviceName, type),
            onlyFor: node.onlyFor,
          }),
        ) - 1,
      key: rewrites.length > 0 || node.onlyFor ? undefined : soleKeyOf(schema, requires),
      interfaces: this.interfaces,
      decides: decidedTypes({ schema, owners }, { service: node.serviceName, requires: node.requires ?? [] }),
      // Read when the whole plan has been compiled.
      get areShared() {
        return !isDeferred && !hasContexts() && !places.some((place) => dependsOnTypes(place, typed));
      },
    };
  }
}

function toGraph(tasks: readonly Task[], steps: readonly PlanStep[]): GraphStep {
  const after = tasks.map((each) => each.after);
  return { kind: 'graph', steps, after, next: tasks.map((_, i) => after.flatMap((each, j) => (each.includes(i) ? [j] : []))) };
}

function toRename(schema: GraphQLSchema, rewrite: FetchDataRewrite): KeyRename {
  if (rewrite.kind !== 'KeyRenamer')
    throw new Error(`The plan rewrites what it receives in a way that is not known here: ${JSON.stringify(rewrite)}`);
  const path = rewrite.path.map((segment) =>
    segment.startsWith(ON) ? { types: typesOf(schema, segment.slice(ON.length)) } : { key: segment },
  );
  return { path, to: rewrite.renameKeyTo };
}
