/** A small supergraph of its own behind a real gateway: each subgraph a real HTTP server, the gateway as `trestle-gateway` starts it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import { type ServerOptions as TlsOptions, createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { execute, parse } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';
import { type Reply, request } from '../clients/client.ts';
import { connectToPool } from '../pool-connection.ts';
import { HIGH_RATE_LIMITS, MEMORY_CHECKS, SHORT_LIVED, type RunningProcess, toRunningProcess } from '../processes/process.ts';

type Resolvers = NonNullable<Extract<Parameters<typeof buildSubgraphSchema>[0], { resolvers?: unknown }>['resolvers']>;

export interface SubgraphSource {
  readonly sdl: string;
  readonly resolvers: object;
}

export interface Received {
  readonly subgraph: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
  /** The request body as it was received; empty for a subscription. */
  readonly body: string;
  /** For a subscription, what came with `connection_init`. */
  readonly headers: IncomingMessage['headers'];
}

export interface Federation {
  readonly url: string;
  readonly gateway: RunningProcess;
  /** Every request that a subgraph got, in order. */
  readonly received: Received[];
  /** Called before a subgraph answers. It may set headers. Its result, if it is not undefined, is sent as the answer; a promise is waited for. */
  intercept: ((received: Received, request: IncomingMessage, response: ServerResponse) => unknown) | undefined;
  readonly supergraphSdl: string;
  ask(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply & { body: Answer }>;
  /** Cuts off every connection of a subgraph and listens no more, as one does that was killed. */
  halt(subgraph: string): Promise<void>;
  /** Starts it again where it was. */
  revive(subgraph: string): Promise<void>;
  /** Puts another supergraph in the place of the one that is served, by a rename. */
  replaceSupergraph(sdl: string): Promise<void>;
  stop(): Promise<void>;
}

export interface Answer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  readonly extensions?: Record<string, unknown>;
}

export const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@external", "@requires", "@provides", "@interfaceObject", "@override", "@inaccessible", "@tag", "@cost", "@listSize", "@authenticated", "@requiresScopes", "@policy", "@composeDirective", "@context", "@fromContext"])\n';

/** How the gateway of a federation is started. */
export interface FederationOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Changes the composed supergraph, to one that today's composition rejects. */
  readonly patch?: (sdl: string) => string;
  /** The certificates of all subgraphs, for `localhost`; default: plain HTTP. */
  readonly subgraphTls?: TlsOptions | undefined;
  /** The path of the command; default: that of the repository. */
  readonly command?: string;
}

const COMMAND = new URL('../../../gateway/bin/trestle-gateway.mjs', import.meta.url).pathname;

/** Starts subgraphs and a gateway. */
export async function startFederation(
  sources: Readonly<Record<string, SubgraphSource>>,
  { env = {}, args = [], patch = (sdl) => sdl, subgraphTls, command = COMMAND }: FederationOptions = {},
): Promise<Federation> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-federation-'));
  const received: Received[] = [];
  const federation: { intercept: Federation['intercept'] } = { intercept: undefined };
  const subgraphs = new Map<string, RunningSubgraph>();
  const urls: Record<string, string> = {};
  const start = async (name: string, port = 0) => {
    const subgraph = serve({ name, source: sources[name] as SubgraphSource, received, federation, tls: subgraphTls });
    subgraphs.set(name, subgraph);
    await new Promise<void>((resolve) => subgraph.server.listen(port, '127.0.0.1', resolve));
    urls[name] =
      `${subgraphTls ? 'https://localhost' : 'http://127.0.0.1'}:${String((subgraph.server.address() as AddressInfo).port)}/graphql`;
  };
  const halt = async (name: string) => {
    const subgraph = subgraphs.get(name);
    subgraphs.delete(name);
    await subgraph?.halt();
  };
  for (const name of Object.keys(sources)) await start(name);
  const supergraphSdl = patch(await compose(sources, urls));
  const file = join(home, 'supergraph.graphql');
  await writeFile(file, supergraphSdl);
  const close = async () => {
    await Promise.all([...subgraphs.keys()].map(halt));
    await rm(home, { recursive: true, force: true });
  };
  const gateway = await startGateway(['--supergraph', file, '--port', '0', '--auth', 'off', ...args], env, command).catch(
    async (error: unknown) => {
      await close();
      throw error;
    },
  );
  const url = `${gateway.url}/graphql`;
  return Object.assign(federation, {
    url,
    gateway,
    received,
    supergraphSdl,
    ask: async (query: string, variables?: Record<string, unknown>, headers: Record<string, string> = {}) =>
      (await request(url, { method: 'POST', body: { query, variables }, headers })) as Reply & { body: Answer },
    halt,
    revive: (name: string) => start(name, Number(new URL(urls[name] ?? '').port)),
    async replaceSupergraph(sdl: string) {
      await writeFile(`${file}.next`, sdl);
      await rename(`${file}.next`, file);
    },
    async stop() {
      await gateway.end('SIGTERM');
      await close();
    },
  });
}

/** Composes in the pool. Returns the supergraph. Rejects with the reasons when the subgraphs do not compose. */
export async function compose(
  sources: Readonly<Record<string, Pick<SubgraphSource, 'sdl'>>>,
  urls: Readonly<Record<string, string>>,
): Promise<string> {
  const pool = connectToPool();
  const named = Object.entries(sources).map(([name, { sdl }]) => ({ name, url: urls[name] ?? 'http://127.0.0.1:9/', sdl: LINK + sdl }));
  const { supergraphSdl } = await pool.send({ command: 'compose', sources: named });
  pool.close();
  if (supergraphSdl === undefined) throw new Error('The pool has replied without a supergraph.');
  return supergraphSdl;
}

export function startGateway(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  command = COMMAND,
): Promise<RunningProcess> {
  const child = spawn(process.execPath, [...SHORT_LIVED, command, ...args], {
    // Without credentials the gateway has no rate limit. No load balancer has to notice that it stops.
    env: { PATH: process.env['PATH'] ?? '', DRAIN_DELAY_MS: '0', ...(args.includes('on') && HIGH_RATE_LIMITS), ...MEMORY_CHECKS, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return toRunningProcess(child, 'gateway');
}

/** What the server of one subgraph is created from. */
export interface Serving {
  readonly name: string;
  readonly source: SubgraphSource;
  readonly received: Received[];
  readonly federation: { intercept: Federation['intercept'] };
  readonly tls?: TlsOptions | undefined;
}

export interface RunningSubgraph {
  readonly server: Server;
  halt(): Promise<void>;
}

/** Creates the server of one subgraph, for requests and subscriptions. The caller has it listen. */
export function serve({ name, source: { sdl, resolvers }, received, federation, tls }: Serving): RunningSubgraph {
  const schema = buildSubgraphSchema({ typeDefs: parse(LINK + sdl), resolvers: resolvers as Resolvers });
  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const {
      query,
      variables = {},
      operationName,
    } = JSON.parse(body) as { query: string; variables?: Record<string, unknown>; operationName?: string };
    const one: Received = { subgraph: name, query, variables, body, headers: incoming.headers };
    received.push(one);
    const instead = await federation.intercept?.(one, incoming, response);
    return JSON.stringify(instead ?? (await execute({ schema, document: parse(query), variableValues: variables, operationName })));
  };
  const handle = (incoming: IncomingMessage, response: ServerResponse) => {
    answer(incoming, response).then(
      (text) => {
        response.setHeader('content-type', 'application/json');
        response.end(text);
      },
      () => response.destroy(),
    );
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  useServer(
    {
      schema,
      onSubscribe: ({ connectionParams = {} }, _, { query, variables }) => {
        received.push({
          subgraph: name,
          query,
          variables: variables ?? {},
          body: '',
          headers: connectionParams as IncomingMessage['headers'],
        });
      },
      context: ({ connectionParams }) => connectionParams,
    },
    sockets,
  );
  return {
    server,
    halt: async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
