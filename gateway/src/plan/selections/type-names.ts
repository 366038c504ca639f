/** Finds the names that objects of a type may have as `__typename`. */
import { type GraphQLSchema, isAbstractType, isInterfaceType } from 'graphql';

/** Returns all names that `__typename` may have for a value of this type, the type's own among them. */
export function typesOf(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (!type || !isAbstractType(type)) return [name];
  const interfaces = isInterfaceType(type) ? schema.getImplementations(type).interfaces : [];
  return [name, ...schema.getPossibleTypes(type).map((each) => each.name), ...interfaces.map((each) => each.name)];
}

/** The prefix of a type condition in the path of one of the planner's rewrites. */
export const ON = '... on ';
