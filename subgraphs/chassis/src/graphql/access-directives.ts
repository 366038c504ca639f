/**
 * Enforces `@authenticated` and `@requiresScopes` (federation 2.5) on the fields of a subgraph: the gateway removes what a caller may not read, and a
 * subgraph that is called directly must not know less (spec §5.8).
 */
import type { Caller } from '@trestle/identity';
import { type Fault, fail } from '@trestle/schema/errors';
import { type ConstDirectiveNode, type GraphQLField, type GraphQLSchema, Kind, defaultFieldResolver, isObjectType } from 'graphql';
import type { RequestContext } from '../request/context.ts';

/** Guards every field that has one of the directives; a subscription at its start. Throws at start for scopes that are not lists of lists of strings. */
export function applyAccessDirectives(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields()) as GraphQLField<unknown, RequestContext>[]) {
      const directives = field.astNode?.directives ?? [];
      const scopes = directives.find(({ name }) => name.value === 'requiresScopes');
      const coordinate = `${type.name}.${field.name}`;
      const anyOf = scopes && readScopes(scopes, coordinate);
      if (!anyOf && !directives.some(({ name }) => name.value === 'authenticated')) continue;
      const require = ({ caller }: RequestContext) => {
        requireAccess(caller, { coordinate, anyOf: anyOf ?? [[]] });
      };
      if (type === schema.getSubscriptionType()) guardStream(field, require);
      else guard(field, require);
    }
  }
}

type Require = (context: RequestContext) => void;

function guard(field: GraphQLField<unknown, RequestContext>, require: Require): void {
  const resolve = field.resolve ?? defaultFieldResolver;
  field.resolve = (source, args, context, info) => {
    require(context);
    return resolve(source, args, context, info);
  };
}

function guardStream(field: GraphQLField<unknown, RequestContext>, require: Require): void {
  const { subscribe } = field;
  if (!subscribe) return;
  field.subscribe = (source, args, context, info) => {
    require(context);
    return subscribe(source, args, context, info);
  };
}

/** Throws UNAUTHORIZED for an anonymous caller, FORBIDDEN with the scopes for one that has every scope of none of the lists. */
function requireAccess(caller: Caller | null, { coordinate, anyOf }: { coordinate: string; anyOf: readonly (readonly string[])[] }): void {
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required.');
  const held: ReadonlySet<string> = caller.scopes;
  if (!anyOf.some((all) => all.every((scope) => held.has(scope)))) throw lacking(coordinate, anyOf[0] ?? []);
}

function lacking(coordinate: string, requiredScopes: readonly string[]): Fault {
  const names = requiredScopes.map((scope) => `\`${scope}\``).join(', ');
  return fail('FORBIDDEN', `Field \`${coordinate}\` requires ${names}. Use an access token with this scope.`, { requiredScopes });
}

function readScopes({ arguments: [argument] = [] }: ConstDirectiveNode, coordinate: string): readonly (readonly string[])[] {
  const lists = argument?.value.kind === Kind.LIST ? argument.value.values : [];
  const scopes = lists.map((all) =>
    all.kind === Kind.LIST ? all.values.flatMap((each) => (each.kind === Kind.STRING && each.value !== '' ? [each.value] : [])) : [],
  );
  if (scopes.length === 0 || scopes.some((all) => all.length === 0))
    throw new Error(`@requiresScopes on ${coordinate} needs lists of scopes, each with at least one.`);
  return scopes;
}
