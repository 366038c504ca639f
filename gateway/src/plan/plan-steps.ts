/** Turns a query plan into the steps of a program, and generates the code of each fetch: where its objects are, and their representations. */
import type { FetchDataRewrite, FetchNode, PlanNode, SequenceNode } from '@apollo/query-planner';
import { type GraphQLSchema, isInterfaceType } from 'graphql';
import type { EntityFetch, FetchStep, KeyRename, Place, PlanStep } from '../program/program.ts';
import type { FetchSource } from './bytes/asked-fetch.ts';
import { CONTEXTUAL, compileContexts, requireContexts } from './contextual-fetch.ts';
import type { FindFetchCaching } from './fetch-caching.ts';
import { keysOf } from './fetch-keys.ts';
import type { SupergraphPatch } from './patch-supergraph.ts';
import { type Owners, decidedTypes } from './owners.ts';
import { dependsOnTypes, generateCollector, joinPlaces, readPlace } from './places.ts';
import { generateRepresentation, soleKeyOf } from './representation-code.ts';
import { type GuardedFetch, guardRequirements } from './requirements.ts';
import { splitFetch } from './split-fetch.ts';
import { ON, typesOf } from './type-names.ts';
import type { TypedFetch } from './typed-fetch.ts';

type CompiledFetch = GuardedFetch & Pick<TypedFetch, 'onlyFor'>;

/** A sequence with the deferred parts whose fetches may begin when its nodes have ended. */
export interface Beginning extends SequenceNode {
  readonly begins: readonly number[];
}

/** A node of a plan, and the place of its objects in the result. */
interface Located<T extends PlanNode = PlanNode> {
  readonly node: T;
  readonly place: Place;
}

export interface PlanCompilerInput {
  /** The schema of the whole supergraph, with the types and fields that clients can not see. */
  readonly schema: GraphQLSchema;
  readonly patch: SupergraphPatch;
  readonly owners: Owners;
  /** Undefined where no results of fetches are kept. */
  readonly findFetchCaching: FindFetchCaching | undefined;
  /** Whether the plan is of deferred parts: they hold objects of the result between their fetches, which must not be replaced by others then. */
  readonly isDeferred?: boolean;
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

  compile(node: PlanNode | undefined): PlanStep | undefined {
    return node && this.#visit([{ node, place: [] }]);
  }

  /** Compiles the fetch that a subscription begins with. */
  compileSource(node: FetchNode): FetchStep {
    return this.#compileFetch(node, [[]]);
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
          node[name] && visit((alike as readonly Located<typeof node>[]).map((each) => ({ ...each, node: each.node[name] as PlanNode })));
        return { kind: 'condition', variable: node.condition, then: clause('ifClause'), otherwise: clause('elseClause') };
      }
      case 'Fetch':
        return this.#splitFetch(node, joinPlaces(alike.map(({ place }) => place)));
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
    const operation = patch.restoreOperation(node.operation);
    const contexts = compileContexts({ node, operation }, schema);
    requireContexts(node.variableUsages ?? [], contexts);
    if (contexts) this.#hasContexts = true;
    const prefix = `{"query":${JSON.stringify(operation)},${node.operationName === undefined ? '' : `"operationName":${JSON.stringify(node.operationName)},`}"variables":{`;
    const seen = this.#seen;
    seen.set(`${node.serviceName}${prefix}`, (seen.get(`${node.serviceName}${prefix}`) ?? 0) + 1);
    const [place = []] = places;
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
      path: place.map(({ key }) => key),
      places,
      collect: place.length > 0 ? this.collect.push(generateCollector(places)) - 1 : undefined,
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

/** Returns the children of nodes that are alike, grouped by their position. */
function childrenOf(alike: readonly Located[]): Located[][] {
  const [first, ...others] = alike as readonly Located<Extract<PlanNode, { kind: 'Sequence' | 'Parallel' }>>[];
  if (!first) return [];
  return first.node.nodes.map((node, i) => [
    { node, place: first.place },
    ...others.map((other) => ({ node: other.node.nodes[i] as PlanNode, place: other.place })),
  ]);
}

/**
 * Groups nodes that differ only in the places of their objects. With `typeConditionedFetching` the planner makes a fetch for each type that an object
 * may have, even when all of these fetches are equal.
 */
function joinAlike(groups: readonly Located[][]): Located[][] {
  const joined = new Map<string, Located[]>();
  for (const group of groups) {
    const key = shapeOf((group[0] as Located).node);
    joined.set(key, [...(joined.get(key) ?? []), ...group]);
  }
  return [...joined.values()];
}

/** Returns a string that is equal for nodes that are alike. */
function shapeOf(node: PlanNode): string {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return `${node.kind}(${node.nodes.map(shapeOf).join()})${'begins' in node ? (node as Beginning).begins.join() : ''}`;
    case 'Flatten':
      return `Flatten(${node.path.map((segment) => String(segment).replace(/\|.*/, '')).join('.')},${shapeOf(node.node)})`;
    case 'Condition':
      return `Condition(${node.condition},${node.ifClause ? shapeOf(node.ifClause) : ''},${node.elseClause ? shapeOf(node.elseClause) : ''})`;
    case 'Fetch': {
      const { serviceName, operation, operationName = '', requires, onlyFor } = node as TypedFetch;
      const { inputRewrites, outputRewrites, contextRewrites } = node;
      const text = operationName === '' ? operation : operation.replace(operationName, '');
      return JSON.stringify([serviceName, text, requires, inputRewrites, outputRewrites, contextRewrites, onlyFor && [...onlyFor]]);
    }
    case 'Defer':
      return JSON.stringify(node);
  }
}

function toRename(schema: GraphQLSchema, rewrite: FetchDataRewrite): KeyRename {
  if (rewrite.kind !== 'KeyRenamer')
    throw new Error(`The plan rewrites what it receives in a way that is not known here: ${JSON.stringify(rewrite)}`);
  const path = rewrite.path.map((segment) =>
    segment.startsWith(ON) ? { types: typesOf(schema, segment.slice(ON.length)) } : { key: segment },
  );
  return { path, to: rewrite.renameKeyTo };
}
