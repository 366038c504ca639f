/** Serves `/metrics` and the probes on a separate port, which operators keep from the public (contract §1). */
import { type Server, createServer } from 'node:http';
import { type ListenOptions, listen } from '../process/listen.ts';
import type { Probes } from './probes.ts';

const MAX_CONNECTIONS = 64;
const TIMEOUT_MS = 10_000;

/** What the port needs. */
interface MetricsOptions extends ListenOptions {
  readonly probes: Pick<Probes, 'answerOnMetricsPort'>;
}

/** Listens on the port; everything but probes and `/metrics` is 404. It speaks plain HTTP, also beside TLS. Rejects if the port is taken. */
export async function serveMetrics({ probes, ...options }: MetricsOptions): Promise<Server> {
  const server = createServer({ headersTimeout: TIMEOUT_MS, requestTimeout: TIMEOUT_MS }, (request, response) => {
    request.resume();
    if (!probes.answerOnMetricsPort(request, response)) response.writeHead(404, { 'content-length': '0' }).end();
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.setTimeout(TIMEOUT_MS);
  await listen(server, options);
  return server;
}
