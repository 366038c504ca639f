/**
 * Lists what fewer callers may read after a change: types and fields with new or stricter `@authenticated`, `@requiresScopes` or `@policy` (federation
 * 2.5 and 2.6). Operations stay valid, but a gateway removes the fields for callers that do not meet the directives. No I/O.
 */
import {
  type ConstDirectiveNode,
  type ConstValueNode,
  type GraphQLSchema,
  Kind,
  isInterfaceType,
  isObjectType,
  isTypeDefinitionNode,
  parse,
} from 'graphql';
import { findDirective } from './contract-directives.ts';
import type { SchemaChange } from './schema-change.ts';
import { memberUse, typeUse } from './use-keys.ts';

/** The two supergraphs that are compared, as SDL. */
export interface ComparedSupergraphs {
  readonly from: string;
  readonly to: string;
}

/** What a caller has to meet: everything in one of the lists. `@authenticated` is one empty list. */
interface Demand {
  readonly specification: string;
  readonly anyOf: readonly (readonly string[])[];
}

/** What types demand, by name, and fields, by coordinate. */
type Demands = ReadonlyMap<string, readonly Demand[]>;

const ARGUMENTS: Readonly<Record<string, string | undefined>> = { authenticated: undefined, requiresScopes: 'scopes', policy: 'policies' };

/** Returns the changes at types and fields that both public schemas have. A field that its type protected before is not listed. */
export function listAccessChanges({ from, to }: ComparedSupergraphs, schemas: readonly GraphQLSchema[]): SchemaChange[] {
  const after = readDemands(to);
  if (after.size === 0) return [];
  const before = readDemands(from);
  return [...after].flatMap(([coordinate, demands]) => {
    if (!schemas.every((schema) => hasElement(schema, coordinate))) return [];
    const [type = ''] = coordinate.split('.', 1);
    const known = [...(before.get(coordinate) ?? []), ...(before.get(type) ?? [])];
    const added = demands.filter((demand) => !known.some((each) => implies(each, demand)));
    return added.length === 0 ? [] : [toChange(coordinate, added)];
  });
}

function toChange(coordinate: string, added: readonly Demand[]): SchemaChange {
  const names = added.map(({ specification }) => `@${specification}`).join(', ');
  const [type = '', field] = coordinate.split('.');
  return {
    type: 'ACCESS_RESTRICTED',
    level: 'dangerous',
    coordinate,
    message: `Fewer callers may read '${coordinate}': ${names} was added or demands more`,
    affects: [field === undefined ? typeUse(type) : memberUse(type, field)],
    isInput: false,
    isAddition: false,
  };
}

/** Returns whether each caller that meets one demand meets the other one too. */
function implies(known: Demand, demand: Demand): boolean {
  return (
    known.specification === demand.specification &&
    known.anyOf.every((held) => demand.anyOf.some((all) => all.every((each) => held.includes(each))))
  );
}

function hasElement(schema: GraphQLSchema, coordinate: string): boolean {
  const [name = '', field] = coordinate.split('.');
  const type = schema.getType(name);
  if (field === undefined) return type !== undefined;
  return (isObjectType(type) || isInterfaceType(type)) && type.getFields()[field] !== undefined;
}

function readDemands(supergraphSdl: string): Demands {
  const document = parse(supergraphSdl, { noLocation: true });
  const specifications = new Map(
    Object.keys(ARGUMENTS).flatMap((specification) => {
      const name = findDirective(document, specification);
      return name === undefined ? [] : [[name, specification] as const];
    }),
  );
  const demands = new Map<string, readonly Demand[]>();
  const read = (coordinate: string, directives: readonly ConstDirectiveNode[] = []) => {
    const own = directives.flatMap((directive) => {
      const specification = specifications.get(directive.name.value);
      return specification === undefined ? [] : [toDemand(directive, specification)];
    });
    if (own.length > 0) demands.set(coordinate, own);
  };
  for (const definition of specifications.size === 0 ? [] : document.definitions) {
    if (!isTypeDefinitionNode(definition)) continue;
    const type = definition.name.value;
    read(type, definition.directives);
    if (!('fields' in definition)) continue;
    for (const { name, directives } of definition.fields ?? []) read(memberUse(type, name.value), directives);
  }
  return demands;
}

function toDemand({ arguments: given = [] }: ConstDirectiveNode, specification: string): Demand {
  const name = ARGUMENTS[specification];
  const lists = given.find((argument) => argument.name.value === name)?.value;
  if (name === undefined || lists === undefined) return { specification, anyOf: [[]] };
  return {
    specification,
    anyOf: itemsOf(lists).map((all) => itemsOf(all).flatMap((each) => (each.kind === Kind.STRING ? [each.value] : []))),
  };
}

/** A single value stands for a list with it (GraphQL §3.11). */
function itemsOf(value: ConstValueNode): readonly ConstValueNode[] {
  return value.kind === Kind.LIST ? value.values : [value];
}
