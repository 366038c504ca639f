/** All demo data, the same on every start: rows for each table, in an order that foreign keys allow (contract §1). */
import { createPeople } from './people.ts';
import { createPosts } from './posts.ts';
import { createShop } from './shop.ts';
import { createTalk, createVideos } from './talk.ts';

/** By subgraph, then by table. Every row of a table has the same columns. */
export type DemoData = ReturnType<typeof createDemoData>;

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
