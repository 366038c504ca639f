/** Finds the types of an API schema that no operation can reach. */
import {
  type GraphQLNamedType,
  type GraphQLSchema,
  buildSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isObjectType,
  isSpecifiedScalarType,
} from 'graphql';

/** Returns the names of the types that cannot be reached from the root types, the arguments of directives, or the types `kept`. */
export function findUnreachableTypes(apiSdl: string, kept: ReadonlySet<string> = new Set()): Set<string> {
  const schema = buildSchema(apiSdl, { assumeValidSDL: true });
  const reached = new Set<GraphQLNamedType>();
  const operationTypes = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  const roots = [...operationTypes, ...[...kept].map((name) => schema.getType(name))].filter((type) => type != null);
  const waiting: GraphQLNamedType[] = [
    ...roots,
    ...schema.getDirectives().flatMap(({ args }) => args.map(({ type }) => getNamedType(type))),
  ];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (reached.has(type)) continue;
    reached.add(type);
    waiting.push(...neighborsOf(schema, type));
  }
  const types = Object.values(schema.getTypeMap());
  const isOwn = (type: GraphQLNamedType) => !isIntrospectionType(type) && !isSpecifiedScalarType(type);
  return new Set(types.filter((type) => isOwn(type) && !reached.has(type)).map(({ name }) => name));
}

function neighborsOf(schema: GraphQLSchema, type: GraphQLNamedType): GraphQLNamedType[] {
  const found: GraphQLNamedType[] = [];
  if (isInputObjectType(type)) found.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  if (isObjectType(type) || isInterfaceType(type)) {
    found.push(...type.getInterfaces());
    for (const field of Object.values(type.getFields())) {
      found.push(getNamedType(field.type), ...field.args.map((argument) => getNamedType(argument.type)));
    }
  }
  if (isAbstractType(type)) found.push(...schema.getPossibleTypes(type));
  return found;
}
