/**
 * Enforces `@authenticated` and `@requiresScopes` (federation 2.5) in a subgraph: the gateway removes what a caller may not read, and a subgraph
 * that is called directly must not know less (spec §5.8).
 */
import type { Caller } from '@trestle/identity';
import { type Alternatives, holdsOneOf, insufficientScope, nearestAlternative } from '@trestle/identity/required-scopes';
import { fail } from '@trestle/schema/errors';
import {
  type ConstDirectiveNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  Kind,
  defaultFieldResolver,
  getNamedType,
  isObjectType,
} from 'graphql';
import type { RequestContext } from '../request/context.ts';

type Field = GraphQLField<unknown, RequestContext>;

/**
 * Guards every field that has one of the directives, whose type has one, or that returns a type that has one; a field of an interface guards the
 * same field of its object types. A subscription is guarded at its start. Throws at start for scopes that are not lists of lists of strings, and
 * for `@policy`, which only the gateway can decide.
 */
export function applyAccessDirectives(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()) as Field[]) {
      const rules = rulesOf(type, field);
      if (rules.length === 0) continue;
      const coordinate = `${type.name}.${field.name}`;
      const require = ({ caller }: RequestContext) => {
        for (const rule of rules) requireAccess(caller, coordinate, rule);
      };
      if (type === schema.getSubscriptionType()) guardStream(field, require);
      else guard(field, require);
    }
  }
}

function rulesOf(type: GraphQLObjectType, field: Field): readonly Alternatives[] {
  const owners = [type, ...type.getInterfaces()];
  const places = [
    ...owners.flatMap((owner): Place[] => [{ name: owner.name, directives: directivesOf(owner) }]),
    ...owners.map((owner) => ({
      name: `${owner.name}.${field.name}`,
      directives: owner.getFields()[field.name]?.astNode?.directives ?? [],
    })),
    { name: getNamedType(field.type).name, directives: directivesOf(getNamedType(field.type)) },
  ];
  return places.flatMap(({ name, directives }) => directives.flatMap((directive) => readRule(directive, name)));
}

interface Place {
  readonly name: string;
  readonly directives: readonly ConstDirectiveNode[];
}

function directivesOf({ astNode, extensionASTNodes }: GraphQLNamedType): readonly ConstDirectiveNode[] {
  return [astNode, ...extensionASTNodes].flatMap((node) => node?.directives ?? []);
}

function readRule(directive: ConstDirectiveNode, place: string): Alternatives[] {
  switch (directive.name.value) {
    case 'authenticated':
      return [[[]]];
    case 'requiresScopes':
      return [readScopes(directive, place)];
    case 'policy':
      throw new Error(`@policy on ${place} is decided by the gateway only. Use @auth or @requiresScopes in a subgraph.`);
    default:
      return [];
  }
}

type Require = (context: RequestContext) => void;

function guard(field: Field, require: Require): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (source, args, context, info) => {
    require(context);
    return resolve(source, args, context, info);
  };
}

function guardStream(field: Field, require: Require): void {
  const { subscribe } = field;
  if (!subscribe) return;
  field.subscribe = (source, args, context, info) => {
    require(context);
    return subscribe(source, args, context, info);
  };
}

/** Throws UNAUTHORIZED for an anonymous caller, FORBIDDEN with the scopes for one that has every scope of none of the lists. */
function requireAccess(caller: Caller | null, coordinate: string, rule: Alternatives): void {
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required.');
  if (!holdsOneOf(caller.scopes, rule)) throw insufficientScope(`Field \`${coordinate}\``, nearestAlternative(rule, caller.scopes));
}

function readScopes({ arguments: [argument] = [] }: ConstDirectiveNode, place: string): Alternatives {
  const lists = argument?.value.kind === Kind.LIST ? argument.value.values : [];
  const scopes = lists.map((all) =>
    all.kind === Kind.LIST ? all.values.flatMap((each) => (each.kind === Kind.STRING && each.value !== '' ? [each.value] : [])) : [],
  );
  if (scopes.length === 0 || scopes.some((all) => all.length === 0))
    throw new Error(`@requiresScopes on ${place} needs lists of scopes, each with at least one.`);
  return scopes;
}
