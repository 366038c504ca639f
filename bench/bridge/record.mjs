/** Records the requests of the bridge to the real gateway and its responses, through a relay. */
import { createServer } from 'node:http';
import { request } from 'undici';
import { startStack } from '../../e2e/dist/stack/stack.js';
import { USER_QUERY } from './query.mjs';

/** Returns the recorded responses by document, the id of a user, and the entity tag of that user. */
export async function record() {
  const stack = await startStack();
  const answers = {};
  const relay = createServer((incoming, response) => {
    const chunks = [];
    incoming.on('data', (chunk) => chunks.push(chunk));
    incoming.on('end', async () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, text } = await ask(`${stack.gateway}/graphql`, { body, authorization: incoming.headers.authorization });
      answers[JSON.parse(body).query] = text;
      response.writeHead(200, { 'content-type': headers['content-type'] }).end(text);
    });
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  try {
    const { id } = await stack.createAccount('Ada Lovelace');
    const gateway = `http://127.0.0.1:${String(relay.address().port)}/graphql`;
    const bridge = await stack.startBridge({ GATEWAY_URL: gateway });
    const shown = await request(`${bridge.url}/v1/users/${id}`);
    await shown.body.dump();
    await ask(gateway, { body: JSON.stringify({ query: USER_QUERY, variables: { id } }) });
    return { answers, userId: id, etag: shown.headers.etag };
  } finally {
    relay.close();
    await stack.stop();
  }
}

async function ask(url, { body, authorization }) {
  const { headers, body: answer } = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    body,
  });
  return { headers, text: await answer.text() };
}
