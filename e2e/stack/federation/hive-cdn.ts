/** A server that responds as the CDN of Hive does for documents of app deployments. */
import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HiveCdn {
  /** The endpoint of a target. */
  readonly endpoint: string;
  /** The paths below the endpoint that were requested, in order. */
  readonly requested: string[];
  /** The headers of the last request. */
  readonly lastHeaders: () => IncomingMessage['headers'];
  /** Texts by their paths: `<app>/<version>/<hash>`. */
  readonly documents: Map<string, string>;
  /** Called in place of the normal response. */
  intercept: ((response: ServerResponse) => void) | undefined;
  stop(): Promise<void>;
}

const TARGET = '/artifacts/v1/11111111-2222-4333-8444-555555555555';

/** Starts the server on a free port. */
export async function startHiveCdn(key: string, documents: Readonly<Record<string, string>>): Promise<HiveCdn> {
  let headers: IncomingMessage['headers'] = {};
  const texts = new Map(Object.entries(documents));
  const requested: string[] = [];
  const server = createServer((request, response) => {
    headers = request.headers;
    const path = (request.url ?? '').replace(TARGET, '');
    requested.push(path);
    const text = texts.get(path.replace('/apps/', ''));
    if (cdn.intercept) cdn.intercept(response);
    else if (headers['x-hive-cdn-key'] === undefined) response.writeHead(400).end('{"code":"MISSING_AUTH_KEY"}');
    else if (headers['x-hive-cdn-key'] !== key) response.writeHead(403).end('{"code":"INVALID_AUTH_KEY"}');
    else if (request.method !== 'GET' || text === undefined) response.writeHead(404).end('Not found.');
    else response.writeHead(200, { 'content-type': 'text/plain' }).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cdn: HiveCdn = {
    endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}${TARGET}`,
    requested,
    lastHeaders: () => headers,
    documents: texts,
    intercept: undefined,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return cdn;
}
