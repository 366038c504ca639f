/**
 * The REST resources of accounts, orders and content in version 1 (spec §2.6). What the specification leaves open follows the fields of the
 * GraphQL schema. Resources of credentials, files, jobs and events are in the files beside this one.
 */
import { type FieldView, type Resource, accountReference, foreign, lowerCase, plain } from './resource.ts';

/** The ids of products are integers (contract §2). */
const productId: FieldView = { select: 'id', toValue: Number, schema: { type: 'integer', description: 'The id of the product.' } };

/** User accounts. */
export const USER: Resource = {
  type: 'User',
  fields: {
    ...plain('id', 'email', 'name', 'bio', 'age'),
    role: lowerCase('role'),
    ...plain('isActive'),
    // Orders are those of another subgraph.
    ...foreign('hasOrders'),
    // On request only: they are null for most callers, and an error then says so.
    plan: lowerCase('plan'),
    ...plain('requestsPerMinute', 'createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'email', 'name', 'bio', 'age', 'role', 'isActive', 'createdAt', 'updatedAt'],
  include: {
    posts: { select: (inner) => `posts { ${inner} }`, find: ({ posts }) => posts, resource: () => POST },
    orders: { select: (inner) => `orders { ${inner} }`, find: ({ orders }) => orders, resource: () => ORDER },
  },
  isVersioned: true,
};

/** Orders. */
export const ORDER: Resource = {
  type: 'Order',
  fields: {
    id: { select: 'id' },
    status: lowerCase('status'),
    ...plain('total', 'currency'),
    customer: accountReference('customer'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'status', 'total', 'currency', 'customer', 'createdAt', 'updatedAt'],
  include: {
    items: { select: (inner) => `items { ${inner} }`, find: ({ items }) => items, resource: () => ORDER_ITEM },
    invoice: { select: (inner) => `invoice { ${inner} }`, find: ({ invoice }) => invoice, resource: () => INVOICE },
  },
  isVersioned: true,
  links: {
    select: 'id status customer { id }',
    toLinks: ({ id, status, customer }, prefix) => {
      const self = `${prefix}/orders/${String(id)}`;
      const owner = customer as { id: string } | null;
      return {
        self: { href: self },
        ...(owner && { customer: { href: `${prefix}/users/${owner.id}` } }),
        // Only pending and paid orders can be cancelled.
        ...((status === 'PENDING' || status === 'PAID') && { cancel: { href: `${self}/cancel`, method: 'POST' } }),
        invoice: { href: `${self}/invoice` },
        items: { href: `${self}/items` },
      };
    },
  },
};

/** The items of an order. */
export const ORDER_ITEM: Resource = {
  type: 'OrderItem',
  fields: {
    id: { select: 'id' },
    product: {
      select: 'product { id name }',
      toValue: (product) => ({ ...(product as { id: string; name: string }), id: Number((product as { id: string }).id) }),
      schema: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id', 'name'] },
    },
    ...plain('qty', 'unitPrice', 'total', 'createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'product', 'qty', 'unitPrice', 'total', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: false,
};

/** Payments. */
export const PAYMENT: Resource = {
  type: 'Payment',
  fields: {
    ...plain('id', 'amount', 'currency'),
    status: lowerCase('status'),
    customer: accountReference('customer'),
    orderId: {
      select: 'order { id }',
      toValue: (order) => (order as { id: string } | null)?.id ?? null,
      schema: { type: ['string', 'null'], description: 'The order that the payment settled; null for a payment on account.' },
    },
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'amount', 'currency', 'status', 'customer', 'orderId', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** Invoices. */
export const INVOICE: Resource = {
  type: 'Invoice',
  fields: {
    ...plain('id', 'number', 'total', 'currency'),
    // It follows from the status of the order.
    ...foreign('isPaid'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'number', 'total', 'currency', 'isPaid', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** The invoice with the data that its PDF prints. */
export const INVOICE_DOCUMENT: Resource = {
  ...INVOICE,
  fields: {
    ...INVOICE.fields,
    customer: {
      select: 'order { customer { name } }',
      toValue: (order) => (order as { customer: { name: string } | null }).customer,
      isForeign: true,
    },
    items: {
      select: 'order { items { qty unitPrice total product { name } } }',
      toValue: (order) => (order as { items: unknown[] }).items,
      isForeign: true,
    },
  },
  defaultFields: [...INVOICE.defaultFields, 'customer', 'items'],
};

/** Products. */
export const PRODUCT: Resource = {
  type: 'Product',
  fields: {
    id: productId,
    ...plain('name', 'description', 'category', 'price', 'currency', 'stock', 'isAvailable', 'createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'name', 'description', 'category', 'price', 'currency', 'stock', 'isAvailable', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** Posts. */
export const POST: Resource = {
  type: 'Post',
  fields: {
    ...plain('id', 'title', 'body'),
    status: lowerCase('status'),
    tags: { select: 'tags' },
    authorId: {
      select: 'author { id }',
      toValue: (author) => (author as { id: string } | null)?.id ?? null,
      // It becomes null with the deletion of the account.
      isForeign: true,
      schema: { type: ['string', 'null'], description: 'The id of the author; null after the account was deleted.' },
    },
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'title', 'body', 'status', 'tags', 'authorId', 'createdAt', 'updatedAt'],
  include: {
    author: { select: (inner) => `author { ${inner} }`, find: ({ author }) => author, resource: () => AUTHOR },
    tags: { select: () => 'tags', find: ({ tags }) => tags, resource: () => TAG },
    comments: {
      select: (inner) => `comments { edges { node { ${inner} } } }`,
      find: ({ comments }) => (comments as { edges: { node: unknown }[] } | null)?.edges.map(({ node }) => node),
      resource: () => COMMENT,
    },
  },
  isVersioned: true,
};

/** Comments. */
export const COMMENT: Resource = {
  type: 'Comment',
  fields: {
    ...plain('id', 'body'),
    author: accountReference('author'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'body', 'author', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** Channels. */
export const CHANNEL: Resource = {
  type: 'Channel',
  fields: plain('id', 'name', 'topic', 'createdAt', 'updatedAt', 'version'),
  defaultFields: ['id', 'name', 'topic', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** Messages in a channel. */
export const MESSAGE: Resource = {
  type: 'Message',
  fields: {
    ...plain('id', 'body'),
    author: accountReference('author'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  defaultFields: ['id', 'body', 'author', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** The results of a search, which `search-results.ts` represents. */
export const SEARCH_RESULT: Resource = { type: 'SearchResult', fields: {}, defaultFields: [], include: {}, isVersioned: false };

/** The account that `include=author` adds to a post. */
const AUTHOR: Resource = { ...USER, defaultFields: ['id', 'name', 'bio', 'role'], include: {} };

/** Tags are strings, not resources, and are represented as they are. */
const TAG: Resource = { type: 'String', fields: {}, defaultFields: [], include: {}, isVersioned: false };
