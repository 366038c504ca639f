/** Builds the executable schema of a subgraph from its SDL file, with everything that all subgraphs enforce. */
import { addResolversToSchema } from '@apollo/subgraph/dist/schema-helper/buildSchemaFromSDL.js';
import { readServedSdl } from '@trestle/schema/sdl';
import type { SubgraphName } from '@trestle/schema/subgraphs';
import { type GraphQLSchema, buildASTSchema, parse } from 'graphql';
import { applyAccessDirectives } from './access-directives.ts';
import { applyArgumentChecks } from './argument-checks.ts';
import { type AuthRules, applyAuth } from './auth-directive.ts';
import { applyEntities } from './entities.ts';
import { applyMutationReads } from './mutation-reads.ts';
import { applyResultLimits } from './result-limits.ts';
import { DateTime, Upload } from './scalars.ts';
import { applyUpper } from './upper-directive.ts';

/** What a subgraph adds to its SDL. */
export interface SubgraphSchema {
  readonly resolvers: object;
  readonly authRules?: AuthRules;
}

/** Creates the schema: resolvers, `_entities`, limits of arguments and results, `@upper`, `@auth`, `@authenticated` and `@requiresScopes`. Throws at start for rules that fit no field. */
export function createSubgraphSchema(name: SubgraphName, { resolvers, authRules }: SubgraphSchema): GraphQLSchema {
  const sdl = readServedSdl(name);
  // Composition has validated it.
  const schema = buildASTSchema(parse(sdl, { noLocation: true }), { assumeValidSDL: true });
  addResolversToSchema(schema, { DateTime, Upload, Query: { _service: () => ({ sdl }) } });
  addResolversToSchema(schema, resolvers as Parameters<typeof addResolversToSchema>[1]);
  applyMutationReads(schema);
  applyEntities(schema);
  applyArgumentChecks(schema);
  applyUpper(schema);
  applyAuth(schema, authRules);
  // After @auth, so that it is checked first.
  applyAccessDirectives(schema);
  applyResultLimits(schema);
  return schema;
}
