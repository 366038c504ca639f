/** The scopes that a route demands: those of the fields that its operation selects around the resource. The SDL is their only source. */
import type { Alternatives } from '@trestle/identity/required-scopes';
import { readFieldAccess } from '@trestle/schema/field-access';
import { type GraphQLSchema, type OperationDefinitionNode, TypeInfo, visit, visitWithTypeInfo } from 'graphql';
import type { Route } from '../routes/route.ts';

/** Returns what a route demands of its caller; undefined when it demands nothing. */
export type RequiredScopesOf = (route: Route) => Alternatives | undefined;

/**
 * Creates the function. It throws an Error for a route that anonymous callers may use though a field of its operation demands a caller. Fields
 * of the resource itself are not looked at: a caller that lacks their scopes gets the rest of the resource.
 */
export function createRequiredScopes(schema: GraphQLSchema, operations: ReadonlyMap<string, OperationDefinitionNode>): RequiredScopesOf {
  const access = readFieldAccess();
  return (route) => {
    const operation = 'operation' in route ? operations.get(route.operation) : undefined;
    if (!operation) return undefined;
    const demanded = fieldsOf(schema, operation).flatMap((coordinate) => {
      const anyOf = access.get(coordinate);
      return anyOf ? [anyOf] : [];
    });
    if (demanded.length === 0) return undefined;
    if (!route.needsCaller) throw new Error(`${route.method} ${route.path} needs a caller: its operation has fields with scopes`);
    return demanded.reduce(combine);
  };
}

/** Returns the coordinates of the fields of an operation. */
function fieldsOf(schema: GraphQLSchema, operation: OperationDefinitionNode): string[] {
  const types = new TypeInfo(schema);
  const coordinates: string[] = [];
  visit(
    operation,
    visitWithTypeInfo(types, {
      Field({ name }) {
        coordinates.push(`${types.getParentType()?.name ?? ''}.${name.value}`);
      },
    }),
  );
  return coordinates;
}

/** Returns the alternatives that meet both demands. */
function combine(one: Alternatives, other: Alternatives): Alternatives {
  return one.flatMap((all) => other.map((more) => [...new Set([...all, ...more])]));
}
