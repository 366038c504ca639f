/** A small supergraph of its own behind a real gateway: each subgraph a real HTTP server, the gateway as `trestle-gateway` starts it. */
import { spawn } from 'node:child_process';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { execute, parse } from 'graphql';
import { type Reply, request } from './client.ts';
import { type RunningProcess, toRunningProcess } from './process.ts';

type Resolvers = NonNullable<Extract<Parameters<typeof buildSubgraphSchema>[0], { resolvers?: unknown }>['resolvers']>;

export interface SubgraphSource {
  readonly sdl: string;
  readonly resolvers: object;
}

export interface Received {
  readonly subgraph: string;
  readonly query: string;
  readonly variables: Record<string, unknown>;
  readonly headers: IncomingMessage['headers'];
}

export interface Federation {
  readonly url: string;
  readonly gateway: RunningProcess;
  /** Every request that a subgraph got, in order. */
  readonly received: Received[];
  /** Called before a subgraph answers; what it gives is sent instead, and a promise holds the answer back. */
  intercept: ((received: Received, request: IncomingMessage) => unknown) | undefined;
  readonly supergraphSdl: string;
  ask(query: string, variables?: Record<string, unknown>, headers?: Record<string, string>): Promise<Reply & { body: Answer }>;
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
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@external", "@requires", "@provides", "@interfaceObject", "@override", "@inaccessible", "@cost", "@listSize"])\n';

/** `mend` may change the composed supergraph, for what today's composition would refuse. */
export async function startFederation(
  sources: Readonly<Record<string, SubgraphSource>>,
  {
    env = {},
    args = [],
    mend = (sdl) => sdl,
  }: { env?: Readonly<Record<string, string>>; args?: readonly string[]; mend?: (sdl: string) => string } = {},
): Promise<Federation> {
  const home = await mkdtemp(join(tmpdir(), 'trestle-federation-'));
  const received: Received[] = [];
  const federation: { intercept: Federation['intercept'] } = { intercept: undefined };
  const servers: Server[] = [];
  const urls: Record<string, string> = {};
  for (const [name, source] of Object.entries(sources)) {
    const server = serve({ name, source, received, federation });
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    urls[name] = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
  }
  const supergraphSdl = mend(compose(sources, urls));
  const file = join(home, 'supergraph.graphql');
  await writeFile(file, supergraphSdl);
  const close = async () => {
    for (const server of servers) server.closeAllConnections();
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    await rm(home, { recursive: true, force: true });
  };
  const gateway = await startGateway(['--supergraph', file, '--port', '0', '--auth', 'off', ...args], env).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  const url = `${gateway.url}/graphql`;
  return Object.assign(federation, {
    url,
    gateway,
    received,
    supergraphSdl,
    ask: async (query: string, variables?: Record<string, unknown>, headers: Record<string, string> = {}) =>
      (await request(url, { method: 'POST', body: { query, variables }, headers })) as Reply & { body: Answer },
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

/** Throws with the reasons when the subgraphs do not compose. */
export function compose(sources: Readonly<Record<string, Pick<SubgraphSource, 'sdl'>>>, urls: Readonly<Record<string, string>>): string {
  const services = Object.entries(sources).map(([name, { sdl }]) => ({
    name,
    url: urls[name] ?? 'http://127.0.0.1:9/',
    typeDefs: parse(LINK + sdl),
  }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}

export function startGateway(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningProcess> {
  const command = new URL('../../gateway/bin/trestle-gateway.mjs', import.meta.url).pathname;
  const child = spawn(process.execPath, [command, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return toRunningProcess(child, 'gateway');
}

interface Serving {
  readonly name: string;
  readonly source: SubgraphSource;
  readonly received: Received[];
  readonly federation: { intercept: Federation['intercept'] };
}

function serve({ name, source: { sdl, resolvers }, received, federation }: Serving): Server {
  const schema = buildSubgraphSchema({ typeDefs: parse(LINK + sdl), resolvers: resolvers as Resolvers });
  const answer = async (incoming: IncomingMessage): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
    const {
      query,
      variables = {},
      operationName,
    } = JSON.parse(Buffer.concat(chunks).toString()) as { query: string; variables?: Record<string, unknown>; operationName?: string };
    const one: Received = { subgraph: name, query, variables, headers: incoming.headers };
    received.push(one);
    const instead = await federation.intercept?.(one, incoming);
    return JSON.stringify(instead ?? (await execute({ schema, document: parse(query), variableValues: variables, operationName })));
  };
  return createServer((incoming, response) => {
    answer(incoming).then(
      (text) => {
        response.setHeader('content-type', 'application/json');
        response.end(text);
      },
      () => response.destroy(),
    );
  });
}
