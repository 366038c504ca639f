/** Starts an HTTP server, reports when it listens, and stops it without losing a request. */
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { closeListener } from './server/close-listener.ts';
import { type HttpServer, createHttpServer } from './server/http-server.ts';
import { listen } from './process/listen.ts';
import { serveMetrics } from './probes/metrics-port.ts';
import type { ServiceOptions } from './server/service-options.ts';
import type { TlsCredentials } from './server/tls.ts';

export { runProcess } from './process/run-process.ts';
export type { ServiceOptions } from './server/service-options.ts';

/** How long requests in flight may take after the server has stopped listening. */
const DRAIN_MS = 5000;
const IDLE_SWEEP_MS = 50;

/** A service that listens. */
export interface Service {
  readonly port: number;
  /** Uses another certificate for connections that are opened from now on (see `TlsTransport.replace`). */
  readonly replaceTls: (credentials: TlsCredentials) => void;
  /**
   * Makes `/readyz` answer 503 and each connection end with its next response (`Connection: close`, GOAWAY), and goes on to serve.
   * Resolves after `drainDelayMs`. A second call returns the promise of the first.
   */
  announceStop(): Promise<void>;
  /**
   * Announces the stop, then closes idle connections and the listener. Requests in flight get at most `drainMs`; then all other
   * connections are closed, upgraded ones too.
   */
  stop(): Promise<void>;
}

/** Listens, and answers probes before anything else. Rejects if the port is taken. The log line `listening` names the port. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { log, port, host, probes, listeningFields = {}, drainMs = DRAIN_MS, drainDelayMs = 0, metricsPort } = options;
  const http = createHttpServer(options);
  const { server } = http;
  await listen(server, { port, host, log });
  const metricsServer = metricsPort === undefined ? undefined : await serveMetrics({ port: metricsPort, host, log, probes });
  if (metricsServer) probes.moveMetrics();
  const address = server.address() as AddressInfo;
  log.info('listening', { port: address.port, ...listeningFields });
  let announced: Promise<void> | undefined;
  const announceStop = () => {
    if (!announced) {
      probes.leave();
      http.announce();
      announced = delay(drainDelayMs);
    }
    return announced;
  };
  return {
    port: address.port,
    replaceTls: http.replaceTls,
    announceStop,
    async stop() {
      await announceStop();
      await drainServer(http, drainMs);
      http.close();
      stopMetrics(metricsServer);
    },
  };
}

/** Closes the listener and idle connections. Requests in flight get at most `drainMs` milliseconds. */
async function drainServer({ server, closeIdle, drain, cut }: HttpServer, drainMs: number): Promise<void> {
  drain();
  const cutTimer = setTimeout(cut, drainMs);
  // Connections whose request is in flight become idle later.
  const sweep = setInterval(closeIdle, IDLE_SWEEP_MS);
  const closed = new Promise((resolve) => server.once('close', resolve));
  await closeListener(server);
  await closed;
  clearTimeout(cutTimer);
  clearInterval(sweep);
}

function stopMetrics(server: Server | undefined): void {
  server?.close();
  server?.closeAllConnections();
}
