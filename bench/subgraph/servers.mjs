/**
 * One process that answers the same operation in three ways, each on a port of its own: by Apollo Server in Express, as the subgraphs do; by Apollo
 * Server without Express; and by graphql-js alone, with documents that were parsed and validated once. The resolvers read an array.
 */
import { createServer } from 'node:http';
import { ApolloServer, HeaderMap } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { buildSchema, execute, parse, validate } from 'graphql';

const schema = buildSchema(`
  type Query { product(id: ID!): Product, products(first: Int!): [Product!]! }
  type Product { id: ID!, name: String!, price: Int! }
`);
const products = Array.from({ length: 100 }, (_, i) => ({ id: `prd_${String(i)}`, name: `Product ${String(i)}`, price: i }));
const fields = schema.getQueryType().getFields();
fields.product.resolve = (_, { id }) => products.find((product) => product.id === id);
fields.products.resolve = (_, { first }) => products.slice(0, first);

const apollo = new ApolloServer({ schema, csrfPrevention: false, stopOnTerminationSignals: false });
await apollo.start();

const ports = {
  express: await listen(express().disable('x-powered-by').disable('etag').use('/graphql', express.json(), expressMiddleware(apollo))),
  apollo: await listen(serve(executeByApollo)),
  graphql: await listen(serve(executeByGraphql)),
};
process.send(ports);

function listen(handler) {
  return new Promise((resolve) => {
    const server = createServer(handler).listen(0, '127.0.0.1', () => resolve(server.address().port));
  });
}

/** Reads a body of JSON, and writes what `run` returns. */
function serve(run) {
  return (request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const text = await run(JSON.parse(Buffer.concat(chunks).toString()), request);
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-length': Buffer.byteLength(text) }).end(text);
    });
  };
}

async function executeByApollo(body, { headers }) {
  const map = new HeaderMap(Object.entries(headers));
  const httpGraphQLRequest = { method: 'POST', headers: map, search: '', body };
  const { body: result } = await apollo.executeHTTPGraphQLRequest({ httpGraphQLRequest, context: () => Promise.resolve({}) });
  return result.string;
}

const documents = new Map();
async function executeByGraphql({ query, variables }) {
  let document = documents.get(query);
  if (!document) {
    document = parse(query);
    const [error] = validate(schema, document);
    if (error) throw error;
    documents.set(query, document);
  }
  return JSON.stringify(await execute({ schema, document, variableValues: variables }));
}
