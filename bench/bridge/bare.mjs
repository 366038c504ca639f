/** The lower bound: sends a fixed GraphQL request and returns its JSON. No errors, entity tags or versions. */
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { USER_QUERY } from './query.mjs';

const { origin, pathname } = new URL(process.env.GATEWAY_URL);
const pool = new Pool(origin, { connections: 64 });
const body = JSON.stringify({ query: USER_QUERY, variables: { id: process.env.USER_ID } });

const server = createServer(async (_, response) => {
  const answer = await pool.request({ method: 'POST', path: pathname, headers: { 'content-type': 'application/json' }, body });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': bytes.length }).end(bytes);
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
