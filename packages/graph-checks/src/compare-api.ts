/** Compares the public schemas that two composers make of the same subgraphs. No I/O. */
import {
  type GraphQLNamedType,
  GraphQLSchema,
  buildSchema,
  getNamedType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isSpecifiedDirective,
  lexicographicSortSchema,
  printSchema,
} from 'graphql';

/** Returns the first lines in which two public schemas differ when they are sorted; undefined when they are the same. */
export function findDifference({ apollo, guild }: { readonly apollo: string; readonly guild: string }): string | undefined {
  const schemas = [readSchema(apollo), readSchema(guild)];
  // Only the composer of Guild keeps definitions of composed directives, and only that of Apollo may keep the types of their arguments.
  const used = new Set(schemas.flatMap(listUsedTypes));
  const ignored = new Set(schemas.flatMap(listDirectiveTypes).filter((name) => !used.has(name)));
  const [left, right] = schemas.map((schema) => sortedLines(schema, ignored)) as [string[], string[]];
  const index = left.findIndex((line, at) => line !== right[at]);
  if (index < 0 && left.length === right.length) return undefined;
  const at = index < 0 ? left.length : index;
  return `@apollo/composition has "${left[at] ?? ''}" where @theguild/federation-composition has "${right[at] ?? ''}".`;
}

/** Descriptions are left out: the composers choose differently among those of several subgraphs. */
function readSchema(sdl: string): GraphQLSchema {
  return buildSchema(sdl.replaceAll(/"""[\s\S]*?"""/gu, ''), { assumeValidSDL: true });
}

/** Returns the names of the types that fields and their arguments have. */
function listUsedTypes(schema: GraphQLSchema): string[] {
  const types = Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) || isInterfaceType(type));
  const fields = types.flatMap((type) => Object.values(type.getFields()));
  return closeOverInputs(fields.flatMap(({ type, args }) => [getNamedType(type), ...args.map((each) => getNamedType(each.type))]));
}

/** Returns the names of the types that arguments of the schema's own directives have. */
function listDirectiveTypes(schema: GraphQLSchema): string[] {
  const own = schema.getDirectives().filter((directive) => !isSpecifiedDirective(directive));
  return closeOverInputs(own.flatMap(({ args }) => args.map(({ type }) => getNamedType(type))));
}

/** Returns the names of types, and of the types of the fields that input objects among them have. */
function closeOverInputs(types: readonly GraphQLNamedType[]): string[] {
  const found = new Set<GraphQLNamedType>();
  const waiting = [...types];
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (found.has(type)) continue;
    found.add(type);
    if (isInputObjectType(type)) waiting.push(...Object.values(type.getFields()).map((field) => getNamedType(field.type)));
  }
  return [...found].map(({ name }) => name);
}

function sortedLines(schema: GraphQLSchema, ignored: ReadonlySet<string>): string[] {
  const config = schema.toConfig();
  const types = config.types.filter(({ name }) => !ignored.has(name));
  const compared = new GraphQLSchema({ ...config, types, directives: config.directives.filter(isSpecifiedDirective) });
  const sorted = printSchema(lexicographicSortSchema(compared));
  return sorted.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
}
