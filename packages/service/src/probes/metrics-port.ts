/** Serves `/metrics` on a separate port, which operators keep from the public (contract §1). */
import { type Server, createServer } from 'node:http';
import { type ListenOptions, listen } from '../process/listen.ts';
import { send } from './probe-response.ts';
import type { Probes } from './probes.ts';

const MAX_CONNECTIONS = 64;
const TIMEOUT_MS = 10_000;

/** Listens on the port; everything but `GET /metrics` is 404. Rejects if the port is taken. */
export async function serveMetrics({ readMetrics, ...options }: ListenOptions & Pick<Probes, 'readMetrics'>): Promise<Server> {
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }, (request, response) => {
    request.resume();
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (isRead && request.url?.split('?', 1)[0] === '/metrics') void send(() => readMetrics(request), request, response);
    else response.writeHead(404, { 'content-length': '0' }).end();
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(TIMEOUT_MS);
  await listen(server, options);
  return server;
}
