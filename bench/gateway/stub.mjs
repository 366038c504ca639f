/** Fast servers for the subgraphs of a module (SUBGRAPHS_MODULE): graphql-js executes each different request once, and its bytes are kept. */
import { createServer } from 'node:http';
import { execute, parse } from 'graphql';

const { SUBGRAPHS, buildSchema } = await import(process.env.SUBGRAPHS_MODULE ?? './supergraph.mjs');
const ports = {};
let requests = 0;
for (const name of Object.keys(SUBGRAPHS)) {
  const schema = buildSchema(name);
  const answers = new Map();
  const answer = async (text) => {
    const { query, variables, operationName } = JSON.parse(text);
    return Buffer.from(JSON.stringify(await execute({ schema, document: parse(query), variableValues: variables, operationName })));
  };
  const server = createServer((request, response) => {
    requests++;
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString();
      let bytes = answers.get(text);
      if (!bytes) answers.set(text, (bytes = await answer(text)));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  ports[name] = server.address().port;
}
process.send({ port: 0, ports });
// Any message asks for the number of requests so far.
process.on('message', () => process.send({ requests }));
