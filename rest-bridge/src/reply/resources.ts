/** The REST resources of version 1 (spec §2.6; what it leaves open is built from the schema's fields). */
import { type FieldView, type Resource, lowerCase, person, plain } from './resource.ts';

/** Products keep the whole numbers that `productId` demands (contract §2). */
const productId: FieldView = { select: 'id', show: Number, schema: { type: 'integer', description: "The product's id." } };

export const USER: Resource = {
  type: 'User',
  fields: {
    ...plain('id', 'email', 'name', 'bio', 'age'),
    role: lowerCase('role'),
    ...plain('isActive', 'hasOrders', 'createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'email', 'name', 'bio', 'age', 'role', 'isActive', 'createdAt', 'updatedAt'],
  include: {
    posts: { select: (inner) => `posts { ${inner} }`, find: ({ posts }) => posts, resource: () => POST },
    orders: { select: (inner) => `orders { ${inner} }`, find: ({ orders }) => orders, resource: () => ORDER },
  },
  isVersioned: true,
};

export const ORDER: Resource = {
  type: 'Order',
  fields: {
    id: { select: 'id' },
    status: lowerCase('status'),
    ...plain('total', 'currency'),
    customer: person('customer'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'status', 'total', 'currency', 'customer', 'createdAt', 'updatedAt'],
  include: {
    items: { select: (inner) => `items { ${inner} }`, find: ({ items }) => items, resource: () => ORDER_ITEM },
    invoice: { select: (inner) => `invoice { ${inner} }`, find: ({ invoice }) => invoice, resource: () => INVOICE },
  },
  isVersioned: true,
  links: {
    select: 'id status customer { id }',
    show: ({ id, status, customer }, prefix) => {
      const self = `${prefix}/orders/${String(id)}`;
      const owner = customer as { id: string } | null;
      return {
        self: { href: self },
        ...(owner && { customer: { href: `${prefix}/users/${owner.id}` } }),
        // What can't be done any more is not offered.
        ...((status === 'PENDING' || status === 'PAID') && { cancel: { href: `${self}/cancel`, method: 'POST' } }),
        invoice: { href: `${self}/invoice` },
        items: { href: `${self}/items` },
      };
    },
  },
};

export const ORDER_ITEM: Resource = {
  type: 'OrderItem',
  fields: {
    id: { select: 'id' },
    product: {
      select: 'product { id name }',
      show: (product) => ({ ...(product as { id: string; name: string }), id: Number((product as { id: string }).id) }),
      schema: { type: 'object', properties: { id: { type: 'integer' }, name: { type: 'string' } }, required: ['id', 'name'] },
    },
    ...plain('qty', 'unitPrice', 'total'),
  },
  usual: ['id', 'product', 'qty', 'unitPrice', 'total'],
  include: {},
  isVersioned: false,
};

export const PAYMENT: Resource = {
  type: 'Payment',
  fields: {
    ...plain('id', 'amount', 'currency'),
    status: lowerCase('status'),
    customer: person('customer'),
    orderId: {
      select: 'order { id }',
      show: (order) => (order as { id: string } | null)?.id ?? null,
      schema: { type: ['string', 'null'], description: 'The order that it settled.' },
    },
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'amount', 'currency', 'status', 'customer', 'orderId', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

export const INVOICE: Resource = {
  type: 'Invoice',
  fields: plain('id', 'number', 'total', 'currency', 'isPaid', 'createdAt', 'updatedAt', 'version'),
  usual: ['id', 'number', 'total', 'currency', 'isPaid', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** What is written on a PDF. */
export const INVOICE_DOCUMENT: Resource = {
  ...INVOICE,
  fields: {
    ...INVOICE.fields,
    customer: {
      select: 'order { customer { name } }',
      show: (order) => (order as { customer: { name: string } | null }).customer,
      isForeign: true,
    },
    items: {
      select: 'order { items { qty unitPrice total product { name } } }',
      show: (order) => (order as { items: unknown[] }).items,
      isForeign: true,
    },
  },
  usual: [...INVOICE.usual, 'customer', 'items'],
};

export const PRODUCT: Resource = {
  type: 'Product',
  fields: {
    id: productId,
    ...plain('name', 'description', 'category', 'price', 'currency', 'stock', 'isAvailable', 'createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'name', 'description', 'category', 'price', 'currency', 'stock', 'isAvailable', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

export const POST: Resource = {
  type: 'Post',
  fields: {
    ...plain('id', 'title', 'body'),
    status: lowerCase('status'),
    tags: { select: 'tags' },
    authorId: {
      select: 'author { id }',
      show: (author) => (author as { id: string } | null)?.id ?? null,
      schema: { type: ['string', 'null'], description: 'Who wrote it; null once the account is deleted.' },
    },
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'title', 'body', 'status', 'tags', 'authorId', 'createdAt', 'updatedAt'],
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

export const COMMENT: Resource = {
  type: 'Comment',
  fields: {
    ...plain('id', 'body'),
    author: person('author'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'body', 'author', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

export const VIDEO: Resource = {
  type: 'Video',
  fields: {
    ...plain('id', 'title'),
    status: lowerCase('status'),
    owner: person('owner'),
    ...plain('durationSeconds', 'createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'title', 'status', 'owner', 'durationSeconds', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

export const CHANNEL: Resource = {
  type: 'Channel',
  fields: plain('id', 'name', 'topic', 'createdAt', 'updatedAt', 'version'),
  usual: ['id', 'name', 'topic', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

export const MESSAGE: Resource = {
  type: 'Message',
  fields: {
    ...plain('id', 'body'),
    author: person('author'),
    ...plain('createdAt', 'updatedAt', 'version'),
  },
  usual: ['id', 'body', 'author', 'createdAt', 'updatedAt'],
  include: {},
  isVersioned: true,
};

/** What a search finds has a shape of its own (`reply/search.ts`). */
export const SEARCH_RESULT: Resource = { type: 'SearchResult', fields: {}, usual: [], include: {}, isVersioned: false };

/** An account as it comes along with something it wrote. */
const AUTHOR: Resource = { ...USER, usual: ['id', 'name', 'bio', 'role'], include: {} };

/** Tags are texts, not resources: they are shown as they are. */
const TAG: Resource = { type: 'String', fields: {}, usual: [], include: {}, isVersioned: false };
