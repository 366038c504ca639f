/** Enforces `@upper`: converts the strings of a field to upper case (spec §2.4). */
import { type GraphQLSchema, GraphQLString, defaultFieldResolver, getNamedType, isObjectType } from 'graphql';

/** Wraps the resolver of every field that has the directive. Throws at start for a field that is not a string. */
export function applyUpper(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type)) continue;
    for (const field of Object.values(type.getFields())) {
      if (!field.astNode?.directives?.some(({ name }) => name.value === 'upper')) continue;
      if (getNamedType(field.type) !== GraphQLString) throw new Error(`@upper needs a String field: ${type.name}.${field.name}`);
      const resolve = field.resolve ?? defaultFieldResolver;
      field.resolve = async (source, args, context, info) => toUpper(await resolve(source, args, context, info));
    }
  }
}

function toUpper(value: unknown): unknown {
  if (typeof value === 'string') return value.toUpperCase();
  return Array.isArray(value) ? value.map(toUpper) : value;
}
