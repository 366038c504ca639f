/** The lower bound: one function per scenario, written by hand for these three subgraphs, with undici's fastest API and no other work. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const urls = JSON.parse(process.env.URLS);
const pools = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, new Pool(new URL(url).origin, { connections: 64 })]));

function post(name, body) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    pools[name].dispatch(
      { method: 'POST', path: '/graphql', headers: { 'content-type': 'application/json' }, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve(JSON.parse(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString()).data),
        onResponseError: (_, error) => reject(error),
      },
    );
  });
}

const USERS = JSON.stringify({ query: 'query($first: Int) { users(first: $first) { id name email } }' }).slice(0, -1);
const USERS_BIO = JSON.stringify({ query: 'query($first: Int) { users(first: $first) { id name email bio } }' }).slice(0, -1);
const ORDERS = JSON.stringify({
  query:
    'query($r: [_Any!]!, $first: Int) { _entities(representations: $r) { ... on User { orders(first: $first) { id total status product { id } } } } }',
}).slice(0, -1);
const PRODUCTS = JSON.stringify({
  query: 'query($r: [_Any!]!) { _entities(representations: $r) { ... on Product { name price } } }',
}).slice(0, -1);
const RENAME = JSON.stringify({ query: 'mutation($id: ID!, $name: String!) { rename(id: $id, name: $name) { id name } }' }).slice(0, -1);

async function join(users, first) {
  const withOrders = await post(
    'orders',
    `${ORDERS},"variables":${JSON.stringify({ r: users.map(({ id }) => ({ __typename: 'User', id })), first })}}`,
  );
  const ids = new Set();
  users.forEach((user, i) => {
    user.orders = withOrders._entities[i].orders;
    for (const { product } of user.orders) ids.add(product.id);
  });
  const keys = [...ids];
  const { _entities } = await post(
    'products',
    `${PRODUCTS},"variables":${JSON.stringify({ r: keys.map((id) => ({ __typename: 'Product', id })) })}}`,
  );
  const byId = new Map(keys.map((id, i) => [id, _entities[i]]));
  for (const user of users)
    for (const order of user.orders) {
      const { name, price } = byId.get(order.product.id);
      order.product.name = name;
      order.product.price = price;
    }
  return users;
}

const CHAINS = {
  a: () => post('users', `${USERS},"variables":{"first":10}}`),
  b: async () => ({ users: await join((await post('users', `${USERS},"variables":{"first":50}}`)).users, 3) }),
  c: async () => ({ users: await join((await post('users', `${USERS_BIO},"variables":{"first":200}}`)).users, 4) }),
  d: async ({ variables }) => {
    const { rename } = await post('users', `${RENAME},"variables":${JSON.stringify(variables)}}`);
    await join([rename], 3);
    return { rename };
  },
};

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const data = await CHAINS[request.headers['x-scene']](body);
    const text = JSON.stringify({ data });
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }).end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
