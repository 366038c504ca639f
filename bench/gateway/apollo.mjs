/** The stock gateway, set up as its documentation shows: Apollo Server's standalone server with @apollo/gateway. */
import { readFileSync } from 'node:fs';

process.env.APOLLO_TELEMETRY_DISABLED = 'true';
const { ApolloServer } = await import('@apollo/server');
const { startStandaloneServer } = await import('@apollo/server/standalone');
const { ApolloGateway } = await import('@apollo/gateway');
const server = new ApolloServer({ gateway: new ApolloGateway({ supergraphSdl: readFileSync(process.env.SUPERGRAPH_PATH, 'utf8') }) });
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } });
process.send({ port: Number(new URL(url).port), path: '/' });
