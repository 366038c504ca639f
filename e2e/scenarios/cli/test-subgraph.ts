/** A subgraph by @apollo/subgraph behind node:http, whose schema can be replaced, as by a deploy. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';

/** A running subgraph. */
export interface TestSubgraph {
  readonly url: string;
  /** How many requests it has answered. */
  readonly count: () => number;
  deploy(sdl: string): void;
  stop(): Promise<void>;
}

/** Starts a subgraph that serves a schema, on a free port unless one is given. */
export async function startSubgraph(sdl: string, port = 0): Promise<TestSubgraph> {
  let schema = buildSubgraphSchema(parse(sdl));
  let count = 0;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { query } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { query: string };
      void graphql({ schema, source: query }).then((result) => {
        count += 1;
        response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`,
    count: () => count,
    deploy: (next) => {
      schema = buildSubgraphSchema(parse(next));
    },
    stop: () =>
      new Promise((resolve) =>
        server.close(() => {
          resolve();
        }),
      ),
  };
}
