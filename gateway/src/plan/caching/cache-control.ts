/**
 * Reads `@cacheControl` of a supergraph, and computes how long the result of an operation may be cached: the minimum over what is selected. The
 * semantics are those of Apollo Server ("Server-side caching"): a hint of a field replaces that of the type that it returns; fields of the root, and
 * fields that return objects, are not cached without one; other fields inherit. A result of abstract types obeys all types that it may have.
 */
import { argumentOf } from '@trestle/graph-checks/cost-directives';
import {
  type ConstDirectiveNode,
  type GraphQLCompositeType,
  type GraphQLNamedType,
  type GraphQLSchema,
  Kind,
  OperationTypeNode,
  getNamedType,
  isAbstractType,
  isCompositeType,
  isInterfaceType,
  isObjectType,
} from 'graphql';
import { type CacheRule, minOf } from '../../program/cache-rule.ts';
import type { ReadOperation } from '../operation/read-operation.ts';
import { type CollectedField, type GuardedSet, createKeys } from '../selections/selection.ts';

/** The longest time: a year, as for `Cache-Control` of subgraphs. */
const MAX_SECONDS = 31_536_000;

/** What one directive says. */
export interface Hint {
  readonly maxAge?: number;
  /** Undefined when the directive does not say. */
  readonly isPrivate?: boolean;
  readonly inherits?: boolean;
}

/** What a place without a directive says. */
export const NO_HINT: Hint = {};
const NOTHING: CacheRule = { maxAge: undefined, isPrivate: false, branches: [] };
const NEVER: CacheRule = { maxAge: 0, isPrivate: false, branches: [] };

export type CacheableOperation = Pick<ReadOperation, 'operation' | 'root' | 'sets' | 'selections' | 'introspection' | 'rules'>;

/** Returns the rule of an operation; undefined where the supergraph has no hints, and nothing forbids to cache the result. */
export type FindCacheRule = (operation: CacheableOperation) => CacheRule | undefined;

/** Creates the function for a schema of clients and its supergraph, which has the directives. It costs nothing when the supergraph has none. */
export function createFindCacheRule(schema: GraphQLSchema, supergraph: GraphQLSchema): FindCacheRule {
  const hintOf = createHints(schema, supergraph);
  // The result of an operation with rules of access depends on the caller; introspection has no hints.
  const isForbidden = ({ introspection, rules }: CacheableOperation) => rules.length > 0 || introspection !== undefined;
  if (!hintOf) return (found) => (isForbidden(found) ? NEVER : undefined);
  return (found) => {
    const { operation, root, sets, selections } = found;
    if (operation.operation !== OperationTypeNode.QUERY || isForbidden(found)) return NEVER;
    const known = new Map<string, CacheRule>();
    const keyOf = createKeys();
    const ofSets = (type: GraphQLCompositeType, guarded: readonly GuardedSet[]): CacheRule => {
      const key = `${type.name}|${keyOf(guarded)}`;
      const computed = known.get(key);
      if (computed) return computed;
      const types = isAbstractType(type) ? schema.getPossibleTypes(type) : [type];
      const rule = types.flatMap((each) => selections.collect(each, guarded).map((field) => ofField(each, field))).reduce(merge, NOTHING);
      known.set(key, rule);
      return rule;
    };
    const ofField = (parent: GraphQLNamedType, field: CollectedField): CacheRule => {
      if (!field.type) return NOTHING;
      const named = getNamedType(field.type);
      const own = toRule(hintOf.field(parent.name, field.name), {
        type: hintOf.type(named),
        needsHint: parent === root || isCompositeType(named),
        isRoot: parent === root,
      });
      const rule = isCompositeType(named) ? merge(own, ofSets(named, field.sets)) : own;
      const isAlways = field.when.some((all) => all.length === 0);
      return isAlways || rule === NOTHING ? rule : { ...NOTHING, branches: [{ when: field.when, rule }] };
    };
    return ofSets(root, sets);
  };
}

interface FieldFacts {
  readonly type: Hint;
  /** Whether the field is not cached without a hint. */
  readonly needsHint: boolean;
  readonly isRoot: boolean;
}

function toRule(field: Hint, { type, needsHint, isRoot }: FieldFacts): CacheRule {
  const isInherited = field.inherits === true && type.maxAge === undefined;
  const given = isInherited ? undefined : (field.maxAge ?? type.maxAge);
  const inherits = !isRoot && (isInherited || type.inherits === true);
  const maxAge = given ?? (needsHint && !inherits ? 0 : undefined);
  const isPrivate = field.isPrivate ?? type.isPrivate ?? false;
  return maxAge === undefined && !isPrivate ? NOTHING : { maxAge, isPrivate, branches: [] };
}

/** A result that depends on more conditions than this is not cached. */
const MAX_BRANCHES = 50;

function merge(one: CacheRule, other: CacheRule): CacheRule {
  if (other === NOTHING) return one;
  if (one === NOTHING) return other;
  const maxAge = minOf(one.maxAge, other.maxAge);
  const branches = [...new Set([...one.branches, ...other.branches])];
  // Nothing makes it stricter.
  if (maxAge === 0 || branches.length > MAX_BRANCHES) return NEVER;
  return { maxAge, isPrivate: one.isPrivate || other.isPrivate, branches };
}

/** Returns what the directives of a type or a field say; nothing for one without a directive. */
export interface Hints {
  readonly type: (type: GraphQLNamedType) => Hint;
  readonly field: (type: string, field: string) => Hint;
}

/** Reads the hints for a schema. Returns undefined for a supergraph without hints. */
export function createHints(schema: GraphQLSchema, supergraph: GraphQLSchema): Hints | undefined {
  const fields = new Map<string, Hint>();
  const types = new Map<string, Hint>();
  for (const type of Object.values(supergraph.getTypeMap())) {
    if (!isCompositeType(type)) continue;
    addHint(types, type.name, [type.astNode, ...type.extensionASTNodes]);
    if (!isObjectType(type) && !isInterfaceType(type)) continue;
    for (const field of Object.values(type.getFields())) addHint(fields, `${type.name}.${field.name}`, [field.astNode]);
  }
  if (fields.size === 0 && types.size === 0) return undefined;
  return {
    type: (named) => {
      const own = types.get(named.name) ?? NO_HINT;
      if (!isAbstractType(named)) return own;
      return schema.getPossibleTypes(named).reduce((hint, { name }) => withPossible(hint, types.get(name)), own);
    },
    field: (type, field) => fields.get(`${type}.${field}`) ?? NO_HINT,
  };
}

/** The hint of a type that an object of an abstract type may have can only restrict. */
function withPossible(hint: Hint, possible: Hint | undefined): Hint {
  if (!possible) return hint;
  const isBounded = hint.maxAge !== undefined || hint.inherits === true;
  const maxAge = isBounded ? minOf(hint.maxAge, possible.maxAge) : undefined;
  const isPrivate = possible.isPrivate === true ? true : hint.isPrivate;
  return { ...hint, ...(maxAge !== undefined && { maxAge }), ...(isPrivate !== undefined && { isPrivate }) };
}

interface Annotated {
  readonly directives?: readonly ConstDirectiveNode[] | undefined;
}

function addHint(hints: Map<string, Hint>, place: string, nodes: readonly (Annotated | null | undefined)[]): void {
  const given = nodes.flatMap((node) => node?.directives ?? []).filter(({ name: { value } }) => NAME.test(value));
  if (given.length > 0) hints.set(place, given.map(readHint).reduce(toStrictest));
}

/** With the namespace of `@link` or without it. */
const NAME = /^(?:\w+__)?cacheControl$/;

/** Values that are not valid forbid to cache. */
function readHint(directive: ConstDirectiveNode): Hint {
  const [maxAge, scope, inherits] = ['maxAge', 'scope', 'inheritMaxAge'].map((name) => argumentOf(directive, name));
  const isGiven = maxAge !== undefined && maxAge.kind !== Kind.NULL;
  const seconds = maxAge?.kind === Kind.INT ? Math.max(0, Math.min(MAX_SECONDS, Number(maxAge.value))) : 0;
  return {
    ...(isGiven && { maxAge: seconds }),
    ...(scope && scope.kind !== Kind.NULL && { isPrivate: scope.kind !== Kind.ENUM || scope.value !== 'PUBLIC' }),
    ...(inherits?.kind === Kind.BOOLEAN && { inherits: inherits.value }),
  };
}

/** Of a directive that is repeated, as subgraphs that do not agree may leave it. */
function toStrictest(one: Hint, other: Hint): Hint {
  const maxAge = minOf(one.maxAge, other.maxAge);
  const isPrivate = one.isPrivate === true ? true : (other.isPrivate ?? one.isPrivate);
  return {
    ...(maxAge !== undefined && { maxAge }),
    ...(isPrivate !== undefined && { isPrivate }),
    inherits: one.inherits === true && other.inherits === true,
  };
}
