/** All resolvers of the users subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { JSONScalar } from '@trestle/chassis/graphql/scalars';
import { apiKeyResolvers } from './api-key/resolvers.ts';
import { authorizationResolvers } from './authorization/resolvers.ts';
import { nodeResolvers } from './node/resolvers.ts';
import { secondFactorResolvers } from './second-factor/resolvers.ts';
import { securityResolvers } from './security/resolvers.ts';
import { sessionResolvers } from './session/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';

export const resolvers = mergeResolvers(
  ...[userResolvers, sessionResolvers, authorizationResolvers, secondFactorResolvers, securityResolvers, apiKeyResolvers, nodeResolvers],
  {
    JSON: JSONScalar,
  },
);
