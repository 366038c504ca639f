/** Two subgraphs: `ticks` emits events on request, over graphql-ws and as queries; `people` has the entities that the events refer to. */
import { EventEmitter, on } from 'node:events';
import { createServer } from 'node:http';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { execute, parse } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key"])';
const said = new EventEmitter().setMaxListeners(0);
const text = 'Each event tells a little, as a message or an order would: this much, about.';
const toTick = (n) => ({ id: `t${n}`, n, at: String(process.hrtime.bigint()), text, author: { id: `p${n % 50}` } });
const listen = () => {
  const events = on(said, 'tick');
  const iterator = {
    [Symbol.asyncIterator]: () => iterator,
    next: async () => {
      const { done, value } = await events.next();
      return done ? { done, value } : { done, value: value[0] };
    },
    return: () => events.return(),
  };
  return iterator;
};
const people = (id) => ({ id, name: `Person ${id}`, city: 'Hamburg' });

export const SUBGRAPHS = {
  ticks: {
    sdl: `${LINK} type Tick { id: ID! n: Int! at: String! text: String! author: Person! } type Person @key(fields: "id", resolvable: false) { id: ID! }
      type Query { tick(n: Int!): Tick! } type Subscription { ticked(for: ID): Tick! }`,
    resolvers: {
      Query: { tick: (_, { n }) => toTick(n) },
      Subscription: { ticked: { subscribe: listen, resolve: (tick) => tick } },
    },
  },
  people: {
    sdl: `${LINK} type Person @key(fields: "id") { id: ID! name: String! city: String! } type Query { person(id: ID!): Person }`,
    resolvers: { Person: { __resolveReference: ({ id }) => people(id) } },
  },
};

const urls = {};
for (const [name, { sdl, resolvers }] of Object.entries(SUBGRAPHS)) {
  const schema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers });
  const documents = new Map();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString());
    if (!documents.has(query)) documents.set(query, parse(query));
    const result = await execute({ schema, document: documents.get(query), variableValues: variables });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
  });
  useServer({ schema }, new WebSocketServer({ server }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  urls[name] = `http://127.0.0.1:${server.address().port}/graphql`;
}
const { supergraphSdl } = composeServices(
  Object.entries(SUBGRAPHS).map(([name, { sdl }]) => ({ name, url: urls[name], typeDefs: parse(sdl) })),
);

let n = 0;
process.on('message', ({ ticks, listeners }) => {
  if (ticks) for (let i = 0; i < ticks; i++) said.emit('tick', toTick(n++));
  process.send(listeners ? { listeners: said.listenerCount('tick') } : {});
});
process.send({ supergraphSdl, urls });
