/** Origins of pages that are not the API's own. */
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PageOrigin {
  readonly origin: string;
  readonly server: Server;
}

/** Serves an empty page. Its host is another site than that of the API, 127.0.0.1. */
export async function serveOrigin(): Promise<PageOrigin> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<!doctype html><title>App</title>'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://localhost:${String((server.address() as AddressInfo).port)}`, server };
}
