/** All resolvers of the users subgraph. */
import { mergeResolvers } from '@trestle/chassis/graphql/resolvers';
import { JSONScalar } from '@trestle/chassis/graphql/scalars';
import { apiKeyResolvers } from './api-key/resolvers.ts';
import { avatarResolvers } from './avatar/resolvers.ts';
import { authorizationResolvers } from './authorization/resolvers.ts';
import { jobResolvers } from './job/resolvers.ts';
import { journalResolvers } from './journal/resolvers.ts';
import { nodeResolvers } from './node/resolvers.ts';
import { passwordResetResolvers } from './password-reset/resolvers.ts';
import { secondFactorResolvers } from './second-factor/resolvers.ts';
import { securityResolvers } from './security/resolvers.ts';
import { sessionResolvers } from './session/resolvers.ts';
import { userResolvers } from './user/resolvers.ts';
import { webhookResolvers } from './webhook/resolvers.ts';

export const resolvers = mergeResolvers(
  ...[userResolvers, sessionResolvers, authorizationResolvers, secondFactorResolvers, securityResolvers, apiKeyResolvers, nodeResolvers],
  ...[avatarResolvers, jobResolvers, passwordResetResolvers],
  ...[journalResolvers, webhookResolvers],
  {
    JSON: JSONScalar,
  },
);
