/** SOFA over a schema with the default fields of a user in REST. Its resolver calls the same upstream server as the other servers do. */
import { createServer } from 'node:http';
import { GraphQLBoolean, GraphQLID, GraphQLInt, GraphQLNonNull, GraphQLObjectType, GraphQLSchema, GraphQLString } from 'graphql';
import { useSofa } from 'sofa-api';
import { Pool } from 'undici';
import { USER_QUERY } from './query.mjs';

const { origin, pathname } = new URL(process.env.GATEWAY_URL);
const pool = new Pool(origin, { connections: 64 });
const needed = (type) => ({ type: new GraphQLNonNull(type) });
const User = new GraphQLObjectType({
  name: 'User',
  fields: {
    id: needed(GraphQLID),
    ...Object.fromEntries(['email', 'name', 'role', 'createdAt', 'updatedAt'].map((name) => [name, needed(GraphQLString)])),
    bio: { type: GraphQLString },
    age: { type: GraphQLInt },
    isActive: needed(GraphQLBoolean),
  },
});
const Query = new GraphQLObjectType({
  name: 'Query',
  fields: {
    user: {
      type: User,
      args: { id: needed(GraphQLID) },
      async resolve(_, variables) {
        const body = JSON.stringify({ query: USER_QUERY, variables });
        const answer = await pool.request({ method: 'POST', path: pathname, headers: { 'content-type': 'application/json' }, body });
        return (await answer.body.json()).data.user;
      },
    },
  },
});
const server = createServer(useSofa({ basePath: '/v1', schema: new GraphQLSchema({ query: Query }) }));
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
