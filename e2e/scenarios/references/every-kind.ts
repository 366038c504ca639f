/** A resource of every kind, and callers of whom some may read it. */
import { expect } from '@jest/globals';
import type { LeasedStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

/** The kinds of which Bob may not read the resource. */
export const HIDDEN_FROM_BOB = ['Draft', 'Order', 'OrderItem', 'Invoice', 'Payment', 'Video'];

export interface EveryKind {
  readonly ada: Account;
  readonly bob: Account;
  readonly admin: Account;
  /** An id of each kind that Ada may see; Bob sees some of them. */
  readonly ids: Readonly<Record<string, string>>;
}

interface Order {
  readonly id: string;
  readonly total: number;
  readonly items: readonly { readonly id: string }[];
  readonly invoice: { readonly id: string };
}

/** Creates the accounts and the resources, most of them Ada's. */
export async function createEveryKind(stack: LeasedStack): Promise<EveryKind> {
  const ada = await stack.createAccount('Ada');
  const bob = await stack.createAccount('Bob');
  const admin = await stack.createAccount('Root', 'ADMIN');
  const as = <Made = { id: string }>(token: string, mutation: string) => make<Made>(stack, token, mutation);
  const product = await as(
    admin.token,
    'createProduct(input: { name: "Rope", category: "ropes", price: 100, currency: "EUR", stock: 9 }) { id }',
  );
  const hook = await as(
    admin.token,
    'createProduct(input: { name: "Hook", category: "hooks", price: 30, currency: "EUR", stock: 9 }) { id }',
  );
  const items = `[{ productId: "${product.id}", qty: 1 }, { productId: "${hook.id}", qty: 2 }]`;
  const order = await as<Order>(ada.token, `createOrder(input: { items: ${items} }) { id total items { id } invoice { id } }`);
  expect(order.total).toBe(160);
  const paying = `{ amount: 160, currency: "EUR", customerId: "${ada.id}", orderId: "${order.id}" }`;
  const post = await as(ada.token, 'createPost(input: { title: "Seen", status: PUBLISHED }) { id }');
  const channel = 'chn_01m7ybgss0v3x9c2k7q4n8d5ra';
  const video = 'vid_01m7ybgss0w2z5c8f3j6m9q4tv';
  await stack.sql('content', `INSERT INTO channels (id, name) VALUES ($1, 'all')`, [channel]);
  await stack.sql('content', `INSERT INTO videos (id, "ownerId", title, status) VALUES ($1, $2, 'Mine', 'UPLOADED')`, [video, ada.id]);
  const ids: Readonly<Record<string, string>> = {
    User: ada.id,
    Post: post.id,
    Draft: (await as(ada.token, 'createPost(input: { title: "Hidden" }) { id }')).id,
    Comment: (await as(ada.token, `createComment(input: { postId: "${post.id}", body: "Mine" }) { id }`)).id,
    Message: (await as(ada.token, `createMessage(input: { channelId: "${channel}", body: "Hello" }) { id }`)).id,
    Channel: channel,
    Video: video,
    Product: product.id,
    Order: order.id,
    OrderItem: order.items[0]?.id ?? '',
    Invoice: order.invoice.id,
    Payment: (await as(ada.token, `createPayment(input: ${paying}) { id }`)).id,
  };
  return { ada, bob, admin, ids };
}

async function make<Made>(stack: LeasedStack, token: string, mutation: string): Promise<Made> {
  const { data, errors } = await stack.graphql<{ made: Made }>(`mutation { made: ${mutation} }`, { token });
  expect(errors).toEqual([]);
  return data?.made as Made;
}
