/** `node(id:)`: any resource by its id, whichever subgraph owns it (contract §2). */
import { prefixOf } from '@trestle/chassis/values/ids';
import type { UsersContext } from '../context.ts';
import type { Resolvers } from '../generated/resolvers.ts';
import type { ApiKey } from '../api-key/rules.ts';
import type { User } from '../user/rules.ts';

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
      return 'lastFour' in node ? 'ApiKey' : 'User';
    },
  },
};

/** Returns the account or the API key, a reference to a resource of another subgraph, or null for an id of no known type. */
async function findNode(id: string, { loaders }: UsersContext): Promise<User | ApiKey | Reference | null> {
  if (/^[1-9]\d{0,9}$/.test(id)) return { __typename: 'Product', id };
  const prefix = prefixOf(id);
  if (prefix === 'usr') return loaders.user.find(id);
  if (prefix === 'key') return loaders.apiKey.find(id);
  const type = prefix === undefined ? undefined : (FOREIGN_TYPES as Readonly<Record<string, ForeignType>>)[prefix];
  return type ? { __typename: type, id } : null;
}
