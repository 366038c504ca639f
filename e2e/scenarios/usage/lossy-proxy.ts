/** A proxy before a registry that loses the responses to the first two reports of usage, after the registry has sent them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const LOST = 2;

/** A proxy that runs. */
export interface LossyProxy {
  readonly url: string;
  /** Returns how many responses were lost. */
  readonly lost: () => number;
  close(): void;
}

/** Starts the proxy on a free port. */
export async function startLossyProxy(target: string): Promise<LossyProxy> {
  let lost = 0;
  const forward = async (path: string, init: RequestInit) => {
    const response = await fetch(`${target}${path}`, init);
    const body = Buffer.from(await response.arrayBuffer());
    return { status: response.status, etag: response.headers.get('etag'), body };
  };
  const server = createServer((incoming, response) => {
    void (async () => {
      const { url = '', method = 'GET', headers } = incoming;
      const chunks: Buffer[] = [];
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
      const passed = ['authorization', 'content-type', 'if-none-match', 'prefer'].flatMap((name): [string, string][] =>
        typeof headers[name] === 'string' ? [[name, headers[name]]] : [],
      );
      const { status, etag, body } = await forward(url, {
        method,
        headers: passed,
        ...(method === 'POST' && { body: Buffer.concat(chunks) }),
      });
      if (url.startsWith('/usage/') && lost < LOST) {
        lost++;
        response.destroy();
      } else response.writeHead(status, etag === null ? {} : { etag }).end(body);
    })().catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    lost: () => lost,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
