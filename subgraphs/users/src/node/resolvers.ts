/** `node(id:)`: any resource by its id, whichever subgraph owns it (contract §2). */
import { prefixOf } from '@trestle/chassis/values/ids';
import type { UsersContext } from '../context.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import type { ApiKey } from '../api-key/rules.ts';
import { type AnyJob, findJob, typeOfJob } from '../job/jobs.ts';
import type { User } from '../user/rules.ts';
import type { Webhook } from '../webhook/rules.ts';

/** The types of other subgraphs, by the prefix of their ids. They are returned as references, which the gateway resolves there. */
const FOREIGN_TYPES = {
  pst: 'Post',
  cmt: 'Comment',
  vid: 'Video',
  chn: 'Channel',
  msg: 'Message',
  ord: 'Order',
  itm: 'OrderItem',
  inv: 'Invoice',
  pay: 'Payment',
} as const;

type ForeignType = (typeof FOREIGN_TYPES)[keyof typeof FOREIGN_TYPES] | 'Product';

interface Reference {
  readonly __typename: ForeignType;
  readonly id: string;
}

export const nodeResolvers: Resolvers = {
  Query: {
    node: (_, { id }, context) => findNode(id, context),
  },
  Node: {
    __resolveType: (node) => {
      if ('__typename' in node) return node.__typename;
      if ('kind' in node) return typeOfJob(node);
      if ('lastFour' in node) return 'ApiKey';
      return 'types' in node ? 'Webhook' : 'User';
    },
  },
};

/** Returns the account, the API key or the webhook, a reference to a resource of another subgraph, or null for an id of no known type. */
async function findNode(id: string, context: UsersContext): Promise<User | ApiKey | Webhook | AnyJob | Reference | null> {
  const { loaders } = context;
  if (/^[1-9]\d{0,9}$/.test(id)) return { __typename: 'Product', id };
  const prefix = prefixOf(id);
  if (prefix === 'usr') return loaders.user.find(id);
  if (prefix === 'key') return loaders.apiKey.find(id);
  if (prefix === 'job') return findJob(id, context);
  if (prefix === 'whk') return loaders.webhook.find(id);
  const type = prefix === undefined ? undefined : (FOREIGN_TYPES as Readonly<Record<string, ForeignType>>)[prefix];
  return type ? { __typename: type, id } : null;
}
