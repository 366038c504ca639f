/** Serves the subgraphs over HTTP. Texts are rendered once, with the sample's marker in the place of the request's. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, parse } from 'graphql';
import { hash } from '../random.ts';
import { type Json, nameEntities } from '../executors/spoil.ts';
import { type Behaviour, behaviourOf } from './faults.ts';
import { SAMPLE, findForeign, findMarker, replaceMarker } from './marker.ts';
import { SUBGRAPHS, answerSubgraph, itemOf, productOf } from './world.ts';

export interface Stub {
  readonly urls: Readonly<Record<string, string>>;
  /** What was wrong with requests of the gateway. */
  readonly faults: string[];
  stop(): Promise<void>;
}

export interface StubOptions {
  /** The gateway's time limit for a fetch. */
  readonly timeoutMs: number;
}

/** Keys may be spoiled. */
const RESOLVERS = {
  Item: { __resolveReference: ({ id }: { id: unknown }) => itemOf(String(id)) },
  Product: { __resolveReference: ({ id }: { id: unknown }) => productOf(String(id)) },
};
const MAX_TEXTS = 1000;
const MAX_VALUES = 200;
const MAX_DELAY_MS = 60;
const PARTS = 4;
/** Mutations that are remembered, to notice one that is sent twice. */
const MAX_MUTATIONS = 10_000;

/** Starts a server for each subgraph. */
export async function startStub({ timeoutMs }: StubOptions): Promise<Stub> {
  const faults: string[] = [];
  const urls: Record<string, string> = {};
  const servers: Server[] = [];
  const mutations = new Set<string>();
  for (const [name, sdl] of Object.entries(SUBGRAPHS)) {
    const answer = createAnswer(name, sdl);
    const server = createServer((request, response) => {
      read(request, (body) => {
        const marker = findMarker(body) ?? '';
        const foreign = findForeign(body, marker);
        if (foreign.length > 0) faults.push(`${name}: a request of ${marker} has ${foreign.join()}: ${body.slice(0, 500)}`);
        if (name === 'catalog' && body.includes('mutation')) {
          if (mutations.has(marker)) faults.push(`${name}: the mutation of ${marker} was sent twice`);
          if (mutations.size > MAX_MUTATIONS) mutations.clear();
          mutations.add(marker);
        }
        const behaviour = behaviourOf(marker, name);
        answer(body, marker, behaviour).then(
          (text) => {
            send(response, { text, marker, behaviour, timeoutMs });
          },
          (error: unknown) => {
            faults.push(`${name}: ${String(error)}`);
            response.destroy();
          },
        );
      });
    });
    server.keepAliveTimeout = 20_000;
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls[name] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
    servers.push(server);
  }
  return {
    urls,
    faults,
    async stop() {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function read(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    done(Buffer.concat(chunks).toString());
  });
}

/** Returns a function that returns the text of a response. */
function createAnswer(service: string, sdl: string) {
  const schema: GraphQLSchema = buildSubgraphSchema({ typeDefs: parse(sdl), resolvers: pick(sdl) });
  for (const name of ['Thing']) {
    const type = schema.getType(name);
    if (type && 'resolveType' in type) type.resolveType = (source: { __typename: string }) => source.__typename;
  }
  const values = new Map<string, Json>();
  const texts = new Map<string, string>();
  const valueOf = async (body: string) => {
    let value = values.get(body);
    if (value === undefined) {
      const { query, variables } = JSON.parse(body) as { query: string; variables: Record<string, unknown> };
      value = JSON.parse(JSON.stringify(await answerSubgraph(schema, parse(query), variables))) as Json;
      if (values.size > MAX_VALUES) values.clear();
      values.set(body, value);
    }
    return value;
  };
  return async (body: string, marker: string, { spoiler }: Behaviour): Promise<string> => {
    const sample = replaceMarker(body, marker, SAMPLE);
    const key = `${spoiler.name}\n${sample}`;
    let text = texts.get(key);
    if (text === undefined) {
      const plain = await valueOf(sample);
      const value = spoiler.value?.(plain, service, nameEntities(JSON.parse(sample) as { variables?: Record<string, unknown> })) ?? plain;
      text = spoiler.text?.(value, service) ?? JSON.stringify(value);
      if (texts.size > MAX_TEXTS) texts.clear();
      texts.set(key, text);
    }
    return replaceMarker(text, SAMPLE, marker);
  };
}

function pick(sdl: string): typeof RESOLVERS {
  return Object.fromEntries(
    Object.entries(RESOLVERS).filter(([type]) => new RegExp(`type ${type} @key\\(fields: "id"\\) `).test(sdl)),
  ) as typeof RESOLVERS;
}

interface Sending {
  readonly text: string;
  readonly marker: string;
  readonly behaviour: Behaviour;
  readonly timeoutMs: number;
}

function send(response: ServerResponse, { text, marker, behaviour: { delivery }, timeoutMs }: Sending): void {
  const bytes = Buffer.from(text);
  const head = { 'content-type': 'application/json', 'content-length': bytes.length };
  const whole = () => response.writeHead(200, head).end(bytes);
  switch (delivery) {
    case 'whole':
      whole();
      return;
    case 'delay':
      setTimeout(whole, 1 + hash(`delay ${marker}`) * MAX_DELAY_MS);
      return;
    case 'close':
      response.setHeader('connection', 'close');
      whole();
      return;
    case 'status 500':
      response.writeHead(500, { 'content-type': 'text/plain' }).end(`no ${marker}`);
      return;
    case 'stall':
      setTimeout(whole, timeoutMs * 1.3);
      return;
    case 'reset':
      response.writeHead(200, head);
      response.write(bytes.subarray(0, bytes.length >> 1), () => response.socket?.resetAndDestroy());
      return;
    case 'parts':
      sendParts(response, bytes);
  }
}

function sendParts(response: ServerResponse, bytes: Buffer): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const size = Math.ceil(bytes.length / PARTS);
  const next = (from: number) => {
    if (from >= bytes.length) response.end();
    else
      response.write(bytes.subarray(from, from + size), () => {
        setImmediate(next, from + size);
      });
  };
  next(0);
}
