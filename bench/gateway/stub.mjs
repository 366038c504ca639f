/**
 * Fast servers for the subgraphs of a module (SUBGRAPHS_MODULE): graphql-js executes each different request once, and its bytes are kept. Each subgraph
 * listens for HTTP/1.1 at one of `ports`, and for HTTP/2 without TLS at one of `http2Ports`.
 */
import { createServer } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { execute, parse } from 'graphql';

const { SUBGRAPHS, buildSchema } = await import(process.env.SUBGRAPHS_MODULE ?? './supergraph.mjs');
const ports = {};
const http2Ports = {};
let requests = 0;
for (const name of Object.keys(SUBGRAPHS)) {
  const schema = buildSchema(name);
  const answers = new Map();
  const answer = async (text) => {
    const { query, variables, operationName } = JSON.parse(text);
    const result = await execute({ schema, document: parse(query), variableValues: variables, operationName });
    return Buffer.from(SUBGRAPHS[name].hasSpaces ? toSpacedJson(JSON.parse(JSON.stringify(result))) : JSON.stringify(result));
  };
  const handle = (request, response) => {
    requests++;
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString();
      let bytes = answers.get(text);
      if (!bytes) answers.set(text, (bytes = await answer(text)));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length }).end(bytes);
    });
  };
  const server = createServer(handle);
  server.keepAliveTimeout = 60_000;
  ports[name] = await listen(server);
  http2Ports[name] = await listen(createHttp2Server(handle));
}
process.send({ port: 0, ports, http2Ports });
// Any message asks for the number of requests so far.
process.on('message', () => process.send({ requests }));

async function listen(server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server.address().port;
}

/** Writes JSON as `json.dumps` of Python does by default: with a space behind each comma and colon. */
function toSpacedJson(value) {
  if (Array.isArray(value)) return `[${value.map(toSpacedJson).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, each]) => `${JSON.stringify(key)}: ${toSpacedJson(each)}`)
    .join(', ')}}`;
}
