import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { afterEach, expect, it } from '@jest/globals';
import { UpstreamFixture, createContext } from '../test-upstream.ts';

const fixture = new UpstreamFixture('lean');
const servers: ApolloServer[] = [];
afterEach(async () => {
  await fixture.close();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** Starts a real Apollo Server. `sent` has what arrived: the document, or that there was none. */
async function startApollo(persistedQueries: object | false) {
  const sent: ('document' | 'hash')[] = [];
  let count = 0;
  const server = new ApolloServer({
    ...{ typeDefs: 'type Query { say(text: String): String } type Mutation { add: Int }', persistedQueries },
    resolvers: { Query: { say: (_: unknown, { text }: { text: string }) => text }, Mutation: { add: () => ++count } },
    plugins: [
      {
        requestDidStart: ({ request }) => {
          sent.push(request.query === undefined ? 'hash' : 'document');
          return Promise.resolve();
        },
      },
    ],
  });
  servers.push(server);
  const { url } = await startStandaloneServer(server, { listen: { host: '127.0.0.1', port: 0 } });
  const { fetch } = fixture.open(url.replace('localhost', '127.0.0.1'), { limits: { persistedQueries: true } });
  return { sent, fetch };
}
const body = (query: string, text: string) => JSON.stringify({ query, variables: { text } });
const SAY = 'query ($text: String) { a: say(text: $text) b: say(text: "\\"") }';

it('sends the document with the hash once, then the hash alone', async () => {
  const { sent, fetch } = await startApollo({});
  for (const text of ['one', 'two', 'PersistedQueryNotFound'])
    expect(await fetch(body(SAY, text))).toMatchObject({ data: { a: text, b: '"' } });
  expect(sent).toEqual(['hash', 'document', 'hash', 'hash']);
});

it('executes a mutation once, although its hash was refused before', async () => {
  const { sent, fetch } = await startApollo({});
  expect(await fetch('{"query":"mutation { add }"}', createContext(), true)).toMatchObject({ data: { add: 1 } });
  expect(await fetch('{"query":"mutation { add }"}', createContext(), true)).toMatchObject({ data: { add: 2 } });
  expect(sent).toEqual(['hash', 'document', 'hash']);
});

it('sends whole documents to a subgraph that has no persisted queries', async () => {
  const { sent, fetch } = await startApollo(false);
  for (const text of ['one', 'two']) expect(await fetch(body(SAY, text))).toMatchObject({ data: { a: text } });
  expect(sent).toEqual(['hash', 'document', 'document']);
});
