/**
 * The types of events: what happens in the subgraphs, written by triggers of their databases, and received by subscriptions, event streams and
 * webhooks. The only table of them: `schema/asyncapi/` and filters follow from it. No I/O.
 */
import type { SubgraphName } from './subgraphs.ts';

/** Who may learn of an event: everybody, signed-in callers, the account that it concerns and administrators, or administrators alone (contract §3). */
export type Audience = 'PUBLIC' | 'USER' | 'OWNER' | 'ADMIN';

/** A member of the data of an event, as JSON Schema. */
export interface DataMember {
  readonly type: 'string' | 'integer' | 'boolean';
  readonly description: string;
  readonly enum?: readonly string[];
}

/** A type of events. */
export interface EventType {
  readonly summary: string;
  /** The subgraph whose database writes it. */
  readonly source: SubgraphName;
  /** The GraphQL type that `subject` identifies. */
  readonly subject: string;
  readonly audiences: readonly Audience[];
  /** What `data` contains: ids and states, no personal data. */
  readonly data: Readonly<Record<string, DataMember>>;
}

const version: DataMember = { type: 'integer', description: 'The version of the resource after the change.' };
const id = (description: string): DataMember => ({ type: 'string', description });
const state = (...values: readonly string[]): DataMember => ({ type: 'string', description: 'The new status.', enum: values });

const ORDER = ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'] as const;
const PAYMENT = ['SUCCEEDED', 'REFUNDED'] as const;
const POST = ['DRAFT', 'PUBLISHED', 'ARCHIVED'] as const;
const VIDEO = ['UPLOADED', 'PUBLISHING', 'PUBLISHED', 'FAILED'] as const;
const from: DataMember = { type: 'string', description: 'The status before.', enum: ORDER };
const updatedAt: DataMember = { type: 'string', description: 'Time of the change.' };
const orderId = id('The order that it pays, if any.');

const user = { source: 'users', subject: 'User' } as const;
const webhook = { source: 'users', subject: 'Webhook', audiences: ['OWNER'] } as const;
const order = { source: 'orders', subject: 'Order', audiences: ['OWNER'] } as const;
const product = { source: 'orders', subject: 'Product', audiences: ['PUBLIC'] } as const;
const payment = { source: 'orders', subject: 'Payment', audiences: ['OWNER'] } as const;
const post = { source: 'content', subject: 'Post' } as const;
const comment = { source: 'content', subject: 'Comment' } as const;
const video = { source: 'content', subject: 'Video' } as const;
const message = { source: 'content', subject: 'Message', audiences: ['USER'] } as const;
const channelId = id('The channel.');

/** All types by their names. */
export const EVENT_TYPES = {
  'user.created': { ...user, summary: 'An account was created.', audiences: ['PUBLIC'], data: { version } },
  'user.updated': { ...user, summary: 'An account was changed.', audiences: ['PUBLIC', 'OWNER'], data: { version } },
  'user.deleted': { ...user, summary: 'An account was deleted.', audiences: ['PUBLIC'], data: { version } },
  'webhook.disabled': {
    ...webhook,
    summary: 'A webhook was disabled, by its owner or because its endpoint fails.',
    data: { reason: { type: 'string', description: 'Why.', enum: ['OWNER', 'GONE', 'FAILURES'] } },
  },
  'webhook.ping': { ...webhook, summary: 'A test, sent on request to one webhook only.', data: {} },
  'order.created': { ...order, summary: 'An order was placed.', data: { version, status: state('PENDING') } },
  'order.paid': { ...order, summary: 'An order was paid.', data: { version, from, status: state('PAID'), updatedAt } },
  'order.shipped': { ...order, summary: 'An order was shipped.', data: { version, from, status: state('SHIPPED'), updatedAt } },
  'order.delivered': { ...order, summary: 'An order was delivered.', data: { version, from, status: state('DELIVERED'), updatedAt } },
  'order.cancelled': { ...order, summary: 'An order was cancelled.', data: { version, from, status: state('CANCELLED'), updatedAt } },
  'order.updated': {
    ...order,
    summary: 'An order was changed without a change of its status.',
    data: { version, status: state(...ORDER) },
  },
  'order.deleted': { ...order, summary: 'An order was deleted.', data: { version } },
  'payment.created': { ...payment, summary: 'A payment was made.', data: { version, status: state('SUCCEEDED'), orderId } },
  'payment.refunded': { ...payment, summary: 'A payment was refunded.', data: { version, status: state('REFUNDED'), orderId } },
  'payment.updated': { ...payment, summary: 'A payment was changed.', data: { version, status: state(...PAYMENT), orderId } },
  'payment.deleted': { ...payment, summary: 'A payment was deleted.', data: { version, status: state(...PAYMENT), orderId } },
  'product.created': { ...product, summary: 'A product was created.', data: { version } },
  'product.updated': { ...product, summary: 'A product was changed, or became available or unavailable.', data: { version } },
  'product.deleted': { ...product, summary: 'A product was deleted.', data: { version } },
  'post.created': { ...post, summary: 'A post was created.', audiences: ['PUBLIC', 'OWNER'], data: { version, status: state(...POST) } },
  'post.updated': { ...post, summary: 'A post was changed.', audiences: ['PUBLIC', 'OWNER'], data: { version, status: state(...POST) } },
  'post.published': { ...post, summary: 'A post was published.', audiences: ['PUBLIC'], data: { version, status: state('PUBLISHED') } },
  'post.archived': {
    ...post,
    summary: 'A post was archived.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, status: state('ARCHIVED') },
  },
  'post.deleted': { ...post, summary: 'A post was deleted.', audiences: ['PUBLIC', 'OWNER'], data: { version, status: state(...POST) } },
  'comment.created': {
    ...comment,
    summary: 'A comment was written.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, postId: id('The post.') },
  },
  'comment.updated': {
    ...comment,
    summary: 'A comment was changed.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, postId: id('The post.') },
  },
  'comment.deleted': {
    ...comment,
    summary: 'A comment was deleted.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, postId: id('The post.') },
  },
  'video.created': {
    ...video,
    summary: 'A video was uploaded.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, status: state(...VIDEO) },
  },
  'video.updated': {
    ...video,
    summary: 'A video was changed.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, status: state(...VIDEO) },
  },
  'video.published': { ...video, summary: 'A video was published.', audiences: ['PUBLIC'], data: { version, status: state('PUBLISHED') } },
  'video.failed': {
    ...video,
    summary: 'A video could not be published.',
    audiences: ['OWNER'],
    data: { version, status: state('FAILED') },
  },
  'video.deleted': {
    ...video,
    summary: 'A video was deleted.',
    audiences: ['PUBLIC', 'OWNER'],
    data: { version, status: state(...VIDEO) },
  },
  'message.added': { ...message, summary: 'A message was sent to a channel.', data: { version, channelId } },
  'message.updated': { ...message, summary: 'A message was changed.', data: { version, channelId } },
  'message.deleted': { ...message, summary: 'A message was deleted.', data: { version, channelId } },
} as const satisfies Readonly<Record<string, EventType>>;

/** The name of a type of events. */
export type EventTypeName = keyof typeof EVENT_TYPES;

/** The names of all types. */
export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as readonly EventTypeName[];

/** Returns whether a filter may contain this name: a type, a family such as `post.*`, or `*` for all. */
export function isEventTypeFilter(name: string): boolean {
  return name === '*' || EVENT_TYPE_NAMES.some((type) => type === name || `${type.split('.')[0] ?? ''}.*` === name);
}
