/** The stock gateway, set up as its documentation shows: Apollo Server's standalone server with @apollo/gateway. */
import { readFileSync } from 'node:fs';

process.env.APOLLO_TELEMETRY_DISABLED = 'true';
const { ApolloServer } = await import('@apollo/server');
const { startStandaloneServer } = await import('@apollo/server/standalone');
const { ApolloGateway, RemoteGraphQLDataSource } = await import('@apollo/gateway');
/** Subgraphs get the client's Authorization, if it has sent one. */
const willSendRequest = ({ request, context }) => {
  if (context.authorization !== undefined) request.http.headers.set('authorization', context.authorization);
};
const gateway = new ApolloGateway({
  supergraphSdl: readFileSync(process.env.SUPERGRAPH_PATH, 'utf8'),
  ...(process.env.FORWARD_AUTHORIZATION && { buildService: ({ url }) => new RemoteGraphQLDataSource({ url, willSendRequest }) }),
});
const context = async ({ req }) => ({ authorization: req.headers.authorization });
const server = new ApolloServer({ gateway });
const { url } = await startStandaloneServer(server, {
  ...(process.env.FORWARD_AUTHORIZATION && { context }),
  listen: { port: 0, host: '127.0.0.1' },
});
process.send({ port: Number(new URL(url).port), path: '/' });
