/** The lower bound: one function per scenario, written by hand for these three subgraphs, with undici's fastest API and no other work. */
import { createServer } from 'node:http';
import { Pool } from 'undici';

const urls = JSON.parse(process.env.URLS);
const pools = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, new Pool(new URL(url).origin, { connections: 64 })]));

async function post(name, body) {
  return (await send(name, body)).data;
}

/** Resolves with a whole response. */
function send(name, body) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    pools[name].dispatch(
      { method: 'POST', path: '/graphql', headers: { 'content-type': 'application/json' }, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve(JSON.parse(chunks.length === 1 ? chunks[0].toString() : Buffer.concat(chunks).toString())),
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

const FEED = JSON.stringify({
  query: `query($first: Int, $brief: Boolean!, $full: Boolean!) { feed(first: $first) { __typename id ... on Photo { url width caption @skip(if: $brief) }
    ... on Article { title words summary @include(if: $full) } ... on Link { title target } author { id } } }`,
}).slice(0, -1);
const NAMES = JSON.stringify({ query: 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { name } } }' }).slice(0, -1);
const PARCELS = JSON.stringify({
  query: 'query($first: Int) { parcels(first: $first) { id label grams isFragile product { id } } }',
}).slice(0, -1);
const USER_NAMES = JSON.stringify({ query: 'query($first: Int) { users(first: $first) { id name } }' }).slice(0, -1);
const RATINGS = JSON.stringify({
  query: 'query($r: [_Any!]!) { _entities(representations: $r) { ... on User { rating reviews } } }',
}).slice(0, -1);

/** Fetches the entities of these references once each. Returns them by id, with the errors of the response. */
async function fetchEntities(name, request, references) {
  const ids = [...new Set(references.map(({ id }) => id))];
  const { __typename } = references[0];
  const { data, errors } = await send(name, `${request},"variables":${JSON.stringify({ r: ids.map((id) => ({ __typename, id })) })}}`);
  return { ids, byId: new Map(ids.map((id, i) => [id, data._entities[i]])), errors };
}

async function joinProducts(items) {
  const { byId } = await fetchEntities(
    'products',
    PRODUCTS,
    items.map(({ product: { id } }) => ({ __typename: 'Product', id })),
  );
  for (const { product } of items) Object.assign(product, byId.get(product.id));
  return items;
}

async function joinRatings(users) {
  const {
    ids,
    byId,
    errors = [],
  } = await fetchEntities(
    'ratings',
    RATINGS,
    users.map(({ id }) => ({ __typename: 'User', id })),
  );
  for (const user of users) Object.assign(user, byId.get(user.id));
  const places = new Map(users.map(({ id }, i) => [id, i]));
  return { users, errors: errors.map(({ message, path }) => ({ message, path: ['users', places.get(ids[path[1]]), ...path.slice(2)] })) };
}

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
  e: async ({ variables }) => {
    const { feed } = await post('feed', `${FEED},"variables":${JSON.stringify({ first: 50, ...variables })}}`);
    const { byId } = await fetchEntities(
      'users',
      NAMES,
      feed.map(({ author: { id } }) => ({ __typename: 'User', id })),
    );
    for (const { author } of feed) author.name = byId.get(author.id).name;
    return { feed };
  },
  f: async () => ({ parcels: await joinProducts((await post('parcels', `${PARCELS},"variables":{"first":50}}`)).parcels) }),
  g: async () => joinRatings((await post('users', `${USER_NAMES},"variables":{"first":100}}`)).users),
};

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', async () => {
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const { errors, ...data } = await CHAINS[request.headers['x-scene']](body);
    const text = JSON.stringify({ data, errors });
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }).end(text);
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
