/** Clients that write without a pause and remember what was acknowledged. */
import type { Field } from '../attack.ts';
import { pause } from '../wire/connections.ts';
import { ask } from '../wire/http.ts';
import { type OwnSystem, findAccount } from './system.ts';

const WRITERS = 4;
const MAX_TRIES = 200;
const PATIENCE_MS = 20_000;

export interface Written {
  /** Payments that were acknowledged, by the amount that names each. */
  readonly payments: Set<number>;
  readonly posts: Set<string>;
  readonly orders: Set<string>;
  /** Payments that were sent, acknowledged or not. */
  readonly sent: Set<number>;
  failures: number;
}

export interface Writers {
  readonly written: Written;
  /** Lets what is on its way come to its end. */
  stop(): Promise<void>;
}

/** Writers never give up a payment: they repeat it with its key until it is acknowledged, as clients should. */
export function startWriters(field: Field, own: OwnSystem): Writers {
  const { connections, addresses, random } = field;
  const account = findAccount(own, 'ada');
  const ada = account.userId;
  const headers = ['Authorization', `Bearer ${own.issueToken(account)}`, 'Content-Type', 'application/json'];
  const written: Written = { payments: new Set(), posts: new Set(), orders: new Set(), sent: new Set(), failures: 0 };
  const base = 1_000_000 + random.upTo(1_000_000) * 1000;
  let next = 0;
  let isOver = false;
  const post = async (path: string, body: unknown, more: readonly string[] = []) => {
    const reply = await ask(connections, addresses['rest-bridge'], {
      path,
      headers: [...headers, ...more],
      body: JSON.stringify(body),
      patienceMs: PATIENCE_MS,
    }).catch(() => undefined);
    if (reply?.status === 201) return (JSON.parse(reply.body.toString()) as { id: string }).id;
    written.failures++;
    await pause(50);
    return undefined;
  };
  const write = async () => {
    while (!isOver) {
      const amount = base + next++;
      written.sent.add(amount);
      const key = ['Idempotency-Key', `attack-${amount}`];
      for (let tries = 0; tries < MAX_TRIES && !written.payments.has(amount); tries++)
        if (await post('/v1/payments', { amount, currency: 'EUR', customerId: ada }, key)) written.payments.add(amount);
      const title = `attack ${amount}`;
      if (await post('/v1/posts', { title, body: 'x' })) written.posts.add(title);
      const order = await post('/v1/orders', { productId: 1 + (amount % 20), qty: 1 });
      if (order) written.orders.add(order);
    }
  };
  const all = Array.from({ length: WRITERS }, write);
  return {
    written,
    async stop() {
      isOver = true;
      await Promise.all(all);
    },
  };
}
