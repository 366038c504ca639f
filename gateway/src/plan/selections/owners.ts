/**
 * Finds the owner of each entity type that has a hidden key. A reference by such a key does not imply that the entity exists: only
 * the owner knows (ADR 3).
 */
import { type ConstDirectiveNode, type GraphQLField, type GraphQLSchema, Kind, isEnumType, isObjectType } from 'graphql';
import type { RequiredSelection } from './requirements.ts';

export interface Owner {
  /** The name of the subgraph. */
  readonly service: string;
  /** A key field that clients can select and that only the owner resolves. */
  readonly witness: string;
  /** All fields that only the owner resolves. */
  readonly fields: ReadonlySet<string>;
}

/** By the name of the entity type. */
export type Owners = ReadonlyMap<string, Owner>;

/**
 * Returns the owners of all entity types that have a key of `@inaccessible` fields, and a visible key field that is `@external` in every
 * other subgraph. `schema` is the whole supergraph's, with its directives.
 */
export function findOwners(schema: GraphQLSchema): Owners {
  const owners = new Map<string, Owner>();
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    const fields = type.getFields();
    const keys = directivesOf(type.astNode, 'join__type').flatMap((each) => stringOf(each, 'key') ?? []);
    if (!keys.some((key) => isInaccessible(fields[key]))) continue;
    for (const key of keys) {
      const field = fields[key];
      const graph = field && !isInaccessible(field) ? soleGraphOf(field) : undefined;
      if (graph === undefined) continue;
      const own = Object.values(fields).filter((each) => soleGraphOf(each) === graph);
      owners.set(type.name, { service: serviceOf(schema, graph), witness: key, fields: new Set(own.map(({ name }) => name)) });
      break;
    }
  }
  return owners;
}

/** Returns the types whose entities a fetch finds to exist or not: types of which it asks the owner by a hidden key. */
export function decidedTypes(
  { schema, owners }: { schema: GraphQLSchema; owners: Owners },
  { service, requires }: { service: string; requires: readonly RequiredSelection[] },
): string[] {
  return requires.flatMap((each) => {
    if (each.kind !== 'InlineFragment' || each.typeCondition === undefined) return [];
    const type = schema.getType(each.typeCondition);
    if (!isObjectType(type) || owners.get(type.name)?.service !== service) return [];
    const keys = each.selections.filter((key) => key.kind !== 'Field' || key.name !== '__typename');
    const isHidden = keys.length > 0 && keys.every((key) => key.kind === 'Field' && isInaccessible(type.getFields()[key.name]));
    return isHidden ? [type.name] : [];
  });
}

/** Reads the directive by its own name or with the namespace of `@link`. */
function isInaccessible(field: GraphQLField<unknown, unknown> | undefined): boolean {
  return field?.astNode?.directives?.some(({ name }) => name.value === 'inaccessible' || name.value.endsWith('__inaccessible')) === true;
}

/** Returns the value of the enum `join__Graph` for the only subgraph that resolves a field; undefined when several do. */
function soleGraphOf({ astNode }: GraphQLField<unknown, unknown>): string | undefined {
  const graphs = directivesOf(astNode, 'join__field')
    .filter((each) => !isTrue(each, 'external') && !isTrue(each, 'usedOverridden'))
    .flatMap((each) => valueOf(each, 'graph') ?? []);
  return graphs.length === 1 && graphs[0]?.kind === Kind.ENUM ? graphs[0].value : undefined;
}

function serviceOf(schema: GraphQLSchema, graph: string): string {
  const type = schema.getType('join__Graph');
  const value = isEnumType(type) ? type.getValue(graph) : undefined;
  const [directive] = directivesOf(value?.astNode, 'join__graph');
  return (directive && stringOf(directive, 'name')) ?? graph;
}

function directivesOf(node: { readonly directives?: readonly ConstDirectiveNode[] } | null | undefined, name: string) {
  return (node?.directives ?? []).filter((each) => each.name.value === name);
}

function valueOf({ arguments: given = [] }: ConstDirectiveNode, argument: string) {
  return given.find(({ name }) => name.value === argument)?.value;
}

function stringOf(directive: ConstDirectiveNode, argument: string): string | undefined {
  const value = valueOf(directive, argument);
  return value?.kind === Kind.STRING ? value.value : undefined;
}

function isTrue(directive: ConstDirectiveNode, argument: string): boolean {
  const value = valueOf(directive, argument);
  return value?.kind === Kind.BOOLEAN && value.value;
}
