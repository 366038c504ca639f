/** Serves the schema over HTTP: GraphQL by POST /graphql, and the probe GET /livez. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { GraphQLError, parse } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { createContext, resolvers } from './resolvers.js';

const MAX_BODY_BYTES = 1024 * 1024;
/** Errors of jose that the token causes; others say that the keys could not be read. */
const TOKEN_ERROR = /^ERR_(?:JWT|JWS|JOSE_ALG|JOSE_NOT_SUPPORTED|JWKS_NO_MATCHING)/;

/** Creates the server, which does not listen yet. `findCaller` returns the caller of an Authorization header. */
export function createReviewsServer({ store, findCaller, logging = true }) {
  const typeDefs = parse(readFileSync(new URL('../reviews.graphql', import.meta.url), 'utf8'));
  const yoga = createYoga({
    schema: buildSubgraphSchema({ typeDefs, resolvers }),
    context: async ({ request }) => createContext(store, await authenticate(findCaller, request.headers.get('authorization'))),
    landingPage: false,
    graphiql: false,
    logging,
  });
  const server = createServer((request, response) => {
    answer(yoga, request, response).catch(() => response.destroy());
  });
  server.requestTimeout = 30_000;
  return server;
}

async function authenticate(findCaller, authorization) {
  try {
    return await findCaller(authorization);
  } catch (error) {
    const [code, status, message] = TOKEN_ERROR.test(error.code ?? '')
      ? ['UNAUTHORIZED', 401, 'The access token is invalid or expired.']
      : ['SERVICE_UNAVAILABLE', 503, 'The keys of access tokens cannot be read.'];
    throw new GraphQLError(message, { originalError: error, extensions: { code, http: { status } } });
  }
}

async function answer(yoga, request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/livez') return void response.end('ok\n');
  if (pathname !== '/graphql') return void response.writeHead(404).end();
  if (request.method !== 'POST') return void response.writeHead(405, { allow: 'POST' }).end();
  const body = await readBody(request);
  if (!body) return void response.writeHead(413, { connection: 'close' }).end();
  const headers = Object.entries(request.headersDistinct).flatMap(([name, values]) => values.map((value) => [name, value]));
  const result = await yoga.fetch('http://localhost/graphql', { method: 'POST', headers, body });
  response.writeHead(result.status, Object.fromEntries(result.headers));
  response.end(Buffer.from(await result.arrayBuffer()));
}

/** Returns the body, or undefined when it is larger than allowed. */
async function readBody(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
