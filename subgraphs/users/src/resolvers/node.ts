/** `node(id:)`: any resource by its id, whichever subgraph owns it (contract §2). */
import { prefixOf } from '@trestle/chassis/values/ids';
import type { UsersContext } from '../context.ts';
import type { NodeResolvers } from '../generated/resolvers.ts';
import type { User } from '../user.ts';

/** Kinds that other subgraphs own, by the prefix of their ids; they are given by reference and fetched there. */
const FOREIGN_KINDS = {
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

type ForeignKind = (typeof FOREIGN_KINDS)[keyof typeof FOREIGN_KINDS] | 'Product';
interface Reference {
  readonly __typename: ForeignKind;
  readonly id: string;
}

export const Node: NodeResolvers = {
  __resolveType: (node) => ('__typename' in node ? node.__typename : 'User'),
};

/** The account, or a reference to the resource in its own subgraph, or null for an id of no known kind. */
export async function findNode(id: string, { userById }: UsersContext): Promise<User | Reference | null> {
  if (/^[1-9]\d{0,9}$/.test(id)) return { __typename: 'Product', id };
  const prefix = prefixOf(id);
  if (prefix === 'usr') return userById.load(id);
  const kind = prefix === undefined ? undefined : (FOREIGN_KINDS as Readonly<Record<string, ForeignKind>>)[prefix];
  return kind ? { __typename: kind, id } : null;
}
