/** Loads a supergraph: its schemas, and Apollo's planner for it. */
import { DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, type Schema, Supergraph, buildSchemaFromAST } from '@apollo/federation-internals';
import { QueryPlanner } from '@apollo/query-planner';
import { type GraphQLSchema, validateSchema } from 'graphql';
import { type AccessRules, readAccessRules } from './access-directives.ts';
import { defineKnownDirectives } from './known-directives.ts';
import { keepOperationDirectives } from './operation-directives.ts';
import { parseSupergraph } from './parse-supergraph.ts';
import { patchRebasing } from './patch-rebasing.ts';
import { type SupergraphPatch, patchSupergraph } from './patch-supergraph.ts';
import { patchVariableCollector } from './patch-variables.ts';
import { withoutStandIns } from './stand-ins.ts';

export interface LoadedSupergraph {
  readonly patch: SupergraphPatch;
  readonly supergraph: Supergraph;
  /** The schema that operations are planned on: the schema of clients with stand-ins. */
  readonly apiSchema: Schema;
  /** The schema of clients. */
  readonly schema: GraphQLSchema;
  /** The schema of the whole supergraph, with its directives. */
  readonly wholeSchema: GraphQLSchema;
  readonly planner: QueryPlanner;
  /** The rules of `@authenticated`, `@requiresScopes` and `@policy`, which none of the schemas have. */
  readonly rules: AccessRules;
}

/** The features for security or execution that a supergraph may link: the access directives have been removed before. */
const FEATURES = new Set([...DEFAULT_SUPPORTED_SUPERGRAPH_FEATURES, 'https://specs.apollo.dev/context/v0.1']);

/** With `isIncremental` the schema of clients has `@defer` and `@stream`. Throws for a supergraph that is not valid, or that links a feature for security or execution that is not known here. */
export function loadSupergraph(sdl: string, { isIncremental = false } = {}): LoadedSupergraph {
  patchRebasing();
  patchVariableCollector();
  const { document, rules } = readAccessRules(parseSupergraph(sdl));
  const patch = patchSupergraph(document);
  // A field that no subgraph can resolve is reported when a client selects it (`requireCover`), not when the supergraph is loaded.
  const supergraph = Supergraph.build(keepOperationDirectives(defineKnownDirectives(patch.document)), {
    supportedFeatures: FEATURES,
    validateSupergraph: false,
  });
  const planner = new QueryPlanner(supergraph, { typeConditionedFetching: true, incrementalDelivery: { enableDefer: isIncremental } });
  const apiSchema = supergraph.apiSchema();
  const schema = toClientSchema(apiSchema, { hasStandIns: patch.hasStandIns, isIncremental });
  // graphql-js refuses every document when the schema is not valid. Refusing the schema keeps the last one in service.
  const problems = validateSchema(schema);
  if (problems.length > 0) throw new Error(`The supergraph is not valid: ${problems.map(({ message }) => message).join(' ')}`);
  return { patch, supergraph, apiSchema, schema, wholeSchema: supergraph.schema.toGraphQLJSSchema(), planner, rules };
}

function toClientSchema(
  apiSchema: Schema,
  { hasStandIns, isIncremental }: { readonly hasStandIns: boolean; readonly isIncremental: boolean },
): GraphQLSchema {
  const directives = { includeDefer: isIncremental, includeStream: isIncremental };
  if (!hasStandIns) return apiSchema.toGraphQLJSSchema(directives);
  return buildSchemaFromAST(withoutStandIns(apiSchema.toAST())).toGraphQLJSSchema(directives);
}
