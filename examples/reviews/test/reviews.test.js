/** The subgraph over HTTP, with a database of its own on the server of TEST_DATABASE_URL, and tokens of an issuer that the test runs. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, before, test } from 'node:test';
import { SignJWT, exportJWK, generateKeyPair } from 'jose';
import pg from 'pg';
import { createFindCaller } from '../src/caller.js';
import { migrate } from '../src/migrate.js';
import { createReviewsServer } from '../src/server.js';
import { createStore } from '../src/store.js';

const name = `reviews_${randomUUID().replaceAll('-', '')}`;
let admin, pool, keys, server, issuer, statements;

before(async () => {
  const url = process.env.TEST_DATABASE_URL;
  assert.ok(url, 'Set TEST_DATABASE_URL to a PostgreSQL server on which the tests may create a database.');
  admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  pool = new pg.Pool({ connectionString: Object.assign(new URL(url), { pathname: `/${name}` }).href });
  await Promise.all([migrate(pool), migrate(pool)]);
  keys = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'k1', alg: 'ES256' };
  issuer = await listen(createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] }))));
  const counted = { query: (...parameters) => (statements++, pool.query(...parameters)) };
  server = await listen(createReviewsServer({ store: createStore(counted), findCaller: createFindCaller(urlOf(issuer)), logging: false }));
});
after(async () => {
  for (const each of [server, issuer]) each?.close();
  await pool?.end();
  await admin?.query(`DROP DATABASE IF EXISTS ${name}`);
  await admin?.end();
});

function listen(started) {
  return new Promise((resolve) => started.listen(0, '127.0.0.1', () => resolve(started)));
}
const urlOf = (started) => `http://127.0.0.1:${started.address().port}`;

async function ask(query, { variables, token, body } = {}) {
  statements = 0;
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${urlOf(server)}/graphql`, {
    method: 'POST',
    headers,
    body: body ?? JSON.stringify({ query, variables }),
  });
  return { status: response.status, ...(response.status === 413 ? {} : await response.json()) };
}
const sign = (claims = {}, seconds = 60) =>
  new SignJWT({ scope: 'comments:write', ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })
    .setIssuer('trestle')
    .setAudience(claims.aud ?? 'trestle-api')
    .setSubject('usr_1')
    .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
    .sign(keys.privateKey);
const ADD =
  'mutation ($productId: ID!, $rating: Int!, $text: String!) { addReview(productId: $productId, rating: $rating, text: $text) { id author { id } } }';
const add = async (productId, rating, text, token) => ask(ADD, { variables: { productId, rating, text }, token: token ?? (await sign()) });

test('serves its schema to a gateway', async () => {
  const { data } = await ask('{ _service { sdl } }');
  assert.match(data._service.sdl, /type Review\s+@key\(fields: "id"\)/);
});

test('writes a review in the name of the caller, and joins it to products in one statement for each field', async () => {
  const ids = [];
  for (const rating of [2, 5]) ids.push((await add('7', rating, 'It holds.')).data.addReview.id);
  const products = Array.from({ length: 50 }, (_, index) => ({ __typename: 'Product', id: String(index) }));
  const query = `query ($of: [_Any!]!) { _entities(representations: $of) {
    ... on Product { id averageRating reviews { rating text author { id } } } } }`;
  const { data } = await ask(query, { variables: { of: products } });
  assert.equal(statements, 2);
  assert.deepEqual(data._entities[7], {
    id: '7',
    averageRating: 3.5,
    reviews: [5, 2].map((rating) => ({ rating, text: 'It holds.', author: { id: 'usr_1' } })),
  });
  assert.deepEqual(data._entities[8], { id: '8', averageRating: null, reviews: [] });
  const reviews = await ask('query ($of: [_Any!]!) { _entities(representations: $of) { ... on Review { rating } } }', {
    variables: { of: [...ids, randomUUID(), 'no id'].map((id) => ({ __typename: 'Review', id })) },
  });
  assert.deepEqual([statements, reviews.data._entities], [1, [{ rating: 2 }, { rating: 5 }, null, null]]);
});

test('refuses a review without a token, without the scope, and out of bounds', async () => {
  const codeOf = ({ errors }) => errors?.[0].extensions.code;
  const variables = { productId: '7', rating: 5, text: 'Fine.' };
  assert.equal(codeOf(await ask(ADD, { variables })), 'UNAUTHORIZED');
  assert.equal(codeOf(await add('7', 5, 'Fine.', await sign({ scope: 'orders:read' }))), 'FORBIDDEN');
  for (const [productId, rating, text] of [
    ['x', 5, 'Fine.'],
    ['7', 0, 'Fine.'],
    ['7', 6, 'Fine.'],
    ['7', 5, ''],
    ['7', 5, 'a'.repeat(2001)],
  ])
    assert.equal(codeOf(await add(productId, rating, text)), 'VALIDATION_ERROR');
});

test('answers 401 for a token that is expired, for another audience, or not signed by the issuer', async () => {
  const other = await generateKeyPair('ES256');
  const forged = await new SignJWT({ scope: 'comments:write' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', typ: 'at+jwt' })
    .setIssuer('trestle')
    .setAudience('trestle-api')
    .setSubject('usr_1')
    .setExpirationTime('1m')
    .sign(other.privateKey);
  for (const token of [await sign({}, -60), await sign({ aud: 'other' }), forged, 'a.b.c'])
    assert.equal((await ask('{ __typename }', { token })).status, 401);
});

test('answers 413 to a body of more than 1 MiB', async () => {
  assert.equal((await ask('', { body: Buffer.alloc(1024 * 1024 + 1, ' ') })).status, 413);
});
