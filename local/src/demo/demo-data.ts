/** The demo data, the same on every start (contract §1). No clock, no I/O. */
import { createPeople } from './people.ts';
import { createPosts } from './posts.ts';
import { createShop } from './shop.ts';
import { createTalk, createVideos } from './talk.ts';

/** Holds the rows by subgraph, then by table. Every row of a table has the same columns. */
export type DemoData = ReturnType<typeof createDemoData>;

/** Returns the rows of every table. The order of the tables satisfies the foreign keys. */
export function createDemoData() {
  const users = createPeople();
  const { posts, comments } = createPosts(users);
  const { channels, messages } = createTalk(users);
  const { products, orders, items, invoices, payments } = createShop(users);
  return {
    users: { users },
    orders: { products, orders, order_items: items, invoices, payments },
    content: { posts, comments, videos: createVideos(users), channels, messages },
  };
}
