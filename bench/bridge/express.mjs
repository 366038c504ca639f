/** An ordinary Express application: a body parser, a route, and the entity tags of Express. */
import express from 'express';
import { Pool } from 'undici';
import { USER_QUERY } from './query.mjs';

const { origin, pathname } = new URL(process.env.GATEWAY_URL);
const pool = new Pool(origin, { connections: 64 });
const app = express();
app.use(express.json());
app.get('/v1/users/:id', async (request, response) => {
  const body = JSON.stringify({ query: USER_QUERY, variables: { id: request.params.id } });
  const answer = await pool.request({ method: 'POST', path: pathname, headers: { 'content-type': 'application/json' }, body });
  const { data } = await answer.body.json();
  if (data.user) response.json(data.user);
  else response.status(404).json({ error: 'not found' });
});
const server = app.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
