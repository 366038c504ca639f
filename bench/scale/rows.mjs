/** Fills the databases with generated rows, inside PostgreSQL. */

/** Number of rows that contain the rare word, evenly distributed and independent of the number of rows. */
const RARE = 20;

const STATEMENTS = {
  users: [
    `INSERT INTO users (id, email, name, bio, age, role, "isActive", "passwordHash", "createdAt", "updatedAt")
     SELECT 'usr_' || lpad(i::text, 26, '0'), 'user' || i || '@example.org', 'Name ' || (i::bigint * 7919 % $1), 'Bio number ' || i || CASE WHEN i % ($1::int / ${RARE}) = 0 THEN ' zanzibar' ELSE '' END,
       i % 90, (CASE WHEN i % 50 = 0 THEN 'MODERATOR' ELSE 'USER' END)::"Role", i % 10 > 0, '', timestamptz '2020-01-01' + i * interval '1 minute', timestamptz '2023-01-01' + (i::bigint * 31 % $1) * interval '1 minute'
     FROM generate_series(1, $1::int) i`,
  ],
  orders: [
    `INSERT INTO products (name, description, category, price, currency, stock) SELECT 'Product ' || i, '', 'c' || i % 6, 100 * i, 'EUR', 1000 FROM generate_series(1, 100) i WHERE $1 > 0`,
    `INSERT INTO orders (id, "customerId", status, total, currency, "createdAt", "updatedAt")
     SELECT 'ord_' || lpad(i::text, 26, '0'), 'usr_' || lpad((i / 20 + 1)::text, 26, '0'), (ARRAY['PENDING', 'PAID', 'SHIPPED', 'DELIVERED', 'CANCELLED'])[i % 5 + 1]::"OrderStatus",
       i::bigint * 7919 % 100000, 'EUR', timestamptz '2020-01-01' + i * interval '1 minute', timestamptz '2023-01-01' + (i::bigint * 31 % $1) * interval '1 minute'
     FROM generate_series(1, $1::int) i`,
    `INSERT INTO order_items (id, "orderId", "productId", qty, "unitPrice", total)
     SELECT 'itm_' || lpad(i::text, 26, '0'), 'ord_' || lpad(i::text, 26, '0'), i % 100 + 1, 1, 100, 100 FROM generate_series(1, $1::int) i`,
    `INSERT INTO invoices (id, "orderId", total, currency) SELECT 'inv_' || lpad(i::text, 26, '0'), 'ord_' || lpad(i::text, 26, '0'), 100, 'EUR' FROM generate_series(1, $1::int) i`,
  ],
  content: [
    `INSERT INTO posts (id, "authorId", title, body, status, tags, "createdAt", "updatedAt")
     SELECT 'pst_' || lpad(i::text, 26, '0'), 'usr_' || lpad((i / 20 + 1)::text, 26, '0'), 'Title ' || (i::bigint * 7919 % $1), 'Text number ' || i || CASE WHEN i % ($1::int / ${RARE}) = 0 THEN ' zanzibar' ELSE '' END,
       (CASE WHEN i % 10 = 0 THEN 'DRAFT' ELSE 'PUBLISHED' END)::"PostStatus", ARRAY['tag' || i / 20], timestamptz '2020-01-01' + i * interval '1 minute', timestamptz '2023-01-01' + (i::bigint * 31 % $1) * interval '1 minute'
     FROM generate_series(1, $1::int) i`,
  ],
};

/** Tables whose size depends on the number of rows. */
export const BIG = ['users', 'orders', 'order_items', 'invoices', 'posts'];

/** Inserts `rows` rows into each of these tables. */
export async function fill(stack, rows) {
  for (const [subgraph, statements] of Object.entries(STATEMENTS)) {
    // Inserted rows must not emit events. The setting of a connection would not do, because the statements use several connections.
    if (subgraph === 'users') await stack.sql(subgraph, 'ALTER TABLE users DISABLE TRIGGER users_created');
    for (const statement of statements) await stack.sql(subgraph, statement, [rows]);
    if (subgraph === 'users') await stack.sql(subgraph, 'ALTER TABLE users ENABLE TRIGGER users_created');
    await stack.sql(subgraph, 'VACUUM ANALYZE');
  }
}

/** Returns the id of an account in the middle of the table, which has orders and posts. */
export function someUser(rows) {
  return `usr_${String(Math.floor(rows / 40)).padStart(26, '0')}`;
}
