import { afterEach, describe, expect, it } from '@jest/globals';
import { type GraphQLSchema, buildSchema, graphql } from 'graphql';
import type { SupergraphSource } from './source.ts';
import { type TestServer, beDown, startTestServer } from './test-server.ts';
import { createUplinkSource } from './uplink-source.ts';

/** The part of the published schema of Apollo Uplink that is about supergraphs. */
const SCHEMA: GraphQLSchema = buildSchema(`
  type Query { routerConfig(ref: String!, apiKey: String!, ifAfterId: ID): RouterConfigResponse! }
  union RouterConfigResponse = FetchError | RouterConfigResult | Unchanged
  type RouterConfigResult { id: ID! messages: [Message!]! minDelaySeconds: Float! supergraphSDL: String! }
  type Message { body: String! }
  type Unchanged { id: ID! minDelaySeconds: Float! }
  type FetchError { code: FetchErrorCode! message: String! minDelaySeconds: Float! }
  enum FetchErrorCode { AUTHENTICATION_FAILED ACCESS_DENIED UNKNOWN_REF RETRY_LATER NOT_IMPLEMENTED_ON_THIS_INSTANCE }
`);
const SDL = 'type Query { a: Int }';
const KEY = 'service:graph:hunter2';

interface Uplink {
  readonly server: TestServer;
  /** What it has. */
  config: { readonly id: string; readonly supergraphSDL: string };
  /** Returned in place of it, if it is set. */
  fetchError: string | undefined;
}

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

/** Starts a GraphQL server that answers as Apollo Uplink does. */
async function startUplink(): Promise<Uplink> {
  const routerConfig = ({ ifAfterId, apiKey }: { ifAfterId?: string; apiKey: string }) => {
    const { id } = uplink.config;
    const fetchError = apiKey === KEY ? uplink.fetchError : 'AUTHENTICATION_FAILED';
    if (fetchError !== undefined) return { __typename: 'FetchError', code: fetchError, message: `no: ${apiKey}`, minDelaySeconds: 5 };
    // The ids of Uplink have an order.
    if (ifAfterId !== undefined && ifAfterId >= id) return { __typename: 'Unchanged', id, minDelaySeconds: 30 };
    return { __typename: 'RouterConfigResult', ...uplink.config, minDelaySeconds: 20 };
  };
  const server = await startTestServer((response, { body }) => {
    const { query, variables, operationName } = JSON.parse(body) as {
      query: string;
      variables: Record<string, unknown>;
      operationName: string;
    };
    void graphql({ schema: SCHEMA, source: query, variableValues: variables, operationName, rootValue: { routerConfig } }).then(
      (result) => {
        response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
      },
    );
  });
  servers.push(server);
  const uplink: Uplink = { server, config: { id: '1', supergraphSDL: SDL }, fetchError: undefined };
  return uplink;
}

const open = (uplinks: readonly Uplink[], key = KEY) =>
  createUplinkSource({
    endpoints: uplinks.map(({ server }) => server.url),
    graphRef: 'graph@current',
    key,
    timeoutMs: 120_000,
    maxBytes: 100_000,
  });
const read = (source: SupergraphSource) => source.read(new AbortController().signal);
const variablesOf = ({ server }: Uplink) => server.received.map(({ body }) => (JSON.parse(body) as { variables: unknown }).variables);

describe('a supergraph of Apollo Uplink', () => {
  it('is read with the key and the graph, and then only when it is newer than the one that is known', async () => {
    const uplink = await startUplink();
    const source = open([uplink]);
    expect(await read(source)).toMatchObject({ sdl: SDL, minDelayMs: 20_000 });
    expect(await read(source)).toMatchObject({ sdl: undefined, minDelayMs: 30_000 });
    uplink.config = { id: '2', supergraphSDL: 'newer' };
    expect(await read(source)).toMatchObject({ sdl: 'newer' });
    const known = { ref: 'graph@current', apiKey: KEY };
    expect(variablesOf(uplink)).toEqual([null, '1', '1'].map((ifAfterId) => ({ ...known, ifAfterId })));
    expect(uplink.server.received[0]).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
  });

  it('is read from the next endpoint when one is down, and an older one there is not taken', async () => {
    const [first, second] = [await startUplink(), await startUplink()];
    first.config = { id: '2', supergraphSDL: 'newer' };
    const source = open([first, second]);
    expect(await read(source)).toMatchObject({ sdl: 'newer' });
    first.server.respond = beDown;
    expect(await read(source)).toMatchObject({ sdl: undefined });
    second.config = { id: '3', supergraphSDL: 'newest' };
    expect(await read(source)).toMatchObject({ sdl: 'newest' });
  });

  it.each(['RETRY_LATER', 'NOT_IMPLEMENTED_ON_THIS_INSTANCE'])('is read from the next endpoint after %s', async (code) => {
    const [first, second] = [await startUplink(), await startUplink()];
    first.fetchError = code;
    expect(await read(open([first, second]))).toMatchObject({ sdl: SDL });
    second.fetchError = code;
    await expect(read(open([first, second]))).rejects.toThrow(
      new RegExp(`responded with the error ${code}; .*responded with the error ${code}`),
    );
  });

  it.each(['AUTHENTICATION_FAILED', 'ACCESS_DENIED', 'UNKNOWN_REF'])('is not asked for at the next endpoint after %s', async (code) => {
    const [first, second] = [await startUplink(), await startUplink()];
    first.fetchError = code;
    await expect(read(open([first, second]))).rejects.toThrow(`responded with the error ${code}`);
    expect(second.server.received).toEqual([]);
  });

  it('is not read with a wrong key, which no message has', async () => {
    const reading = read(open([await startUplink()], 'hunter3'));
    await expect(reading).rejects.toThrow('responded with the error AUTHENTICATION_FAILED');
    await expect(reading).rejects.not.toThrow('hunter');
  });

  it.each([
    ['a GraphQL error', { errors: [{ message: `bad ${KEY}` }] }, 'responded with a GraphQL error'],
    ['no data', { data: null }, 'what is not a result of Apollo Uplink'],
    ['another type', { data: { routerConfig: { __typename: 'Other', id: '1' } } }, 'what is not a result of Apollo Uplink'],
    ['no schema', { data: { routerConfig: { __typename: 'RouterConfigResult', id: '1' } } }, 'what is not a result of Apollo Uplink'],
    ['a list', [1], 'what is not a result of Apollo Uplink'],
    ['a code that is no code', { data: { routerConfig: { __typename: 'FetchError', code: KEY } } }, 'the error without a code'],
  ])('is not taken from a response with %s', async (_, body, reason) => {
    const uplink = await startUplink();
    uplink.server.respond = (response) => response.end(JSON.stringify(body));
    const reading = read(open([uplink]));
    await expect(reading).rejects.toThrow(reason);
    await expect(reading).rejects.not.toThrow('hunter');
  });

  it('is not taken from a response that is not JSON, or that redirects', async () => {
    const uplink = await startUplink();
    uplink.server.respond = (response) => response.end('<html>');
    await expect(read(open([uplink]))).rejects.toThrow('what is not a result of Apollo Uplink');
    uplink.server.respond = (response) => response.writeHead(307, { location: '/other' }).end();
    await expect(read(open([uplink]))).rejects.toThrow('redirected more than 0 times');
    expect(uplink.server.received).toHaveLength(2);
  });

  it('keeps the gateway from asking again for at most an hour', async () => {
    const uplink = await startUplink();
    const result = { __typename: 'Unchanged', id: '1', minDelaySeconds: 1e300 };
    uplink.server.respond = (response) => response.end(JSON.stringify({ data: { routerConfig: result } }));
    expect(await read(open([uplink]))).toMatchObject({ minDelayMs: 3_600_000 });
  });
});
