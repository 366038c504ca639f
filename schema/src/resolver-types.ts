/** Generates a subgraph's resolver types from its SDL, so that a resolver that drifts from the schema does not compile. No I/O. */
import { buildSubgraphSchema } from '@apollo/subgraph';
import { codegen } from '@graphql-codegen/core';
import * as typescript from '@graphql-codegen/typescript';
import * as resolvers from '@graphql-codegen/typescript-resolvers';
import { withoutReferences } from './references.ts';
import { GraphQLObjectType, GraphQLSchema, parse, printSchema } from 'graphql';

/** Configures the generated resolver types of one subgraph. */
export interface ResolverTypesOptions {
  /** SDL of the subgraph. */
  readonly sdl: string;
  /** TypeScript type of the parent value of each GraphQL type, such as `{User: '../user.ts#UserRow'}`. */
  readonly mappers: Readonly<Record<string, string>>;
  /** TypeScript type of the resolvers' context argument, such as `../context.ts#UsersContext`. */
  readonly contextType: string;
}

/** Returns the source of a TypeScript module that exports `Resolvers` and the types of all arguments and inputs. */
export async function generateResolverTypes({ sdl, mappers, contextType }: ResolverTypesOptions): Promise<string> {
  const schemaAst = withoutFederationMachinery(buildSubgraphSchema(withoutReferences(parse(sdl))));
  const text = await codegen({
    filename: 'resolvers.ts',
    schema: parse(printSchema(schemaAst)),
    schemaAst,
    documents: [],
    pluginMap: { typescript, resolvers },
    plugins: [{ typescript: {} }, { resolvers: {} }],
    config: {
      mappers,
      contextType,
      enumsAsTypes: true,
      useTypeImports: true,
      immutableTypes: true,
      noSchemaStitching: true,
      strictScalars: true,
      scalars: {
        ID: 'string',
        DateTime: 'Date',
        JSON: 'unknown',
        Upload: '@trestle/chassis/uploads/uploaded-file#UploadedFile',
        _Any: 'unknown',
        federation__FieldSet: 'string',
        link__Import: 'unknown',
        federation__ContextFieldValue: 'string',
        federation__Policy: 'string',
        federation__Scope: 'string',
      },
      federation: true,
    },
  });
  return `// Generated from the SDL by "npm run generate"; do not edit.\n${text}`;
}

/** Removes what the federation library resolves itself: `_entities` and `_service`. */
function withoutFederationMachinery(schema: GraphQLSchema): GraphQLSchema {
  const { query, types, ...rest } = schema.toConfig();
  if (!query) throw new Error('The SDL of a subgraph must define a Query type');
  const { fields, ...queryRest } = query.toConfig();
  const own = Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith('_')));
  const Query = new GraphQLObjectType({ ...queryRest, fields: own });
  return new GraphQLSchema({
    ...rest,
    query: Query,
    types: types.filter(({ name }) => !/^_(?:Any|Entity|Service)$/.test(name) && name !== 'Query'),
  });
}
