/** All resolvers of the users subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { JSONScalar } from '@trestle/chassis/graphql/scalars';
import { nodeResolvers } from './node/resolvers.ts';
import { sessionResolvers } from './session/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';

export const resolvers = mergeResolvers(userResolvers, sessionResolvers, nodeResolvers, { JSON: JSONScalar });
