/** Reviews in PostgreSQL: one statement for each batch, however many products or reviews a request has. */

const COLUMNS = 'id, product_id AS "productId", author_id AS "authorId", rating, text';
const NEWEST = 100;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Creates the store on a pool of connections. */
export function createStore(pool) {
  return {
    /** Returns the reviews with these ids, in their order; null for an id without a review. */
    async findByIds(ids) {
      const { rows } = await pool.query(`SELECT ${COLUMNS} FROM reviews WHERE id = ANY($1::uuid[])`, [ids.filter((id) => UUID.test(id))]);
      const byId = new Map(rows.map((row) => [row.id, row]));
      return ids.map((id) => byId.get(id.toLowerCase()) ?? null);
    },

    /** Returns the newest reviews of each product, in the order of the products. */
    async findByProducts(productIds) {
      const { rows } = await pool.query(
        `SELECT r.* FROM unnest($1::text[]) AS p(id) CROSS JOIN LATERAL (
          SELECT ${COLUMNS} FROM reviews WHERE product_id = p.id ORDER BY created_at DESC, id LIMIT $2) AS r`,
        [[...new Set(productIds)], NEWEST],
      );
      const byProduct = new Map(productIds.map((id) => [id, []]));
      for (const row of rows) byProduct.get(row.productId).push(row);
      return productIds.map((id) => byProduct.get(id));
    },

    /** Returns the mean rating of each product, in the order of the products; null without a review. */
    async findAverages(productIds) {
      const { rows } = await pool.query(
        'SELECT product_id AS "productId", avg(rating)::float8 AS average FROM reviews WHERE product_id = ANY($1) GROUP BY product_id',
        [productIds],
      );
      const byProduct = new Map(rows.map(({ productId, average }) => [productId, average]));
      return productIds.map((id) => byProduct.get(id) ?? null);
    },

    /** Writes a review and returns it. */
    async add({ productId, authorId, rating, text }) {
      const { rows } = await pool.query(
        `INSERT INTO reviews (product_id, author_id, rating, text) VALUES ($1, $2, $3, $4) RETURNING ${COLUMNS}`,
        [productId, authorId, rating, text],
      );
      return rows[0];
    },
  };
}
