/** Requests for a WebSocket: redirects those of plain HTTP, refuses those of foreign origins, and passes on the others. */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { ClientIds } from '../clients/client-id.ts';
import type { LoadShedding } from './load-shedding.ts';
import { FOREIGN_ORIGIN } from '../edge/preflight.ts';
import type { Redirect } from './redirect.ts';
import { OVERLOADED } from '../http1/refusal-reasons.ts';
import { type RefusalHeaders, type RefusalOptions, createSocketRefuser, isSecure } from '../http1/refusals.ts';
import { addedHeadersOf } from '../messages/response-headers.ts';
import type { ServiceOptions } from './service-options.ts';
import type { Traffic } from '../http1/traffic.ts';
import { UpgradedTransfer } from '../http1/transfers.ts';

/** What requests for a WebSocket pass before their handler. */
export interface UpgradeDependencies {
  readonly clients: ClientIds;
  readonly traffic: Pick<Traffic, 'add'>;
  readonly shedding: Pick<LoadShedding, 'refuses'>;
  readonly redirect: Redirect | undefined;
  readonly refusals: RefusalOptions & RefusalHeaders;
}

/** The connections of requests for a WebSocket. */
export interface Upgrades {
  readonly handle: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** Closes all of them. */
  readonly cut: () => void;
}

/** Handles requests for a WebSocket, and keeps their connections: a Node server forgets them. */
export function createUpgrades(
  { upgrade, edge, tls }: Pick<ServiceOptions, 'upgrade' | 'edge' | 'tls'>,
  { redirect, clients, traffic, shedding, refusals }: UpgradeDependencies,
): Upgrades {
  const refuse = createSocketRefuser(refusals);
  const sockets = new Set<Duplex>();
  const isPlain = (request: IncomingMessage) => {
    const protocol = edge?.proxies.protocolOf(request);
    return protocol === 'http' || (tls !== undefined && protocol === undefined && !isSecure(request.socket));
  };
  return {
    handle: (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
      if (redirect && isPlain(request)) {
        const response = {};
        refusals.prepare?.(request, response);
        redirect.respondBare(request, socket, (status) => addedHeadersOf(response, status));
        return;
      }
      if (edge && request.headers.origin !== undefined && !edge.isAllowedOrigin(request)) {
        refuse(socket, FOREIGN_ORIGIN, { request });
        return;
      }
      if (shedding.refuses()) {
        refuse(socket, OVERLOADED, { request });
        return;
      }
      clients.identify(request);
      sockets.add(socket);
      traffic.add(new UpgradedTransfer(socket));
      socket.once('close', () => sockets.delete(socket));
      upgrade?.(request, socket, head);
    },
    cut: (): void => {
      for (const socket of sockets) socket.destroy();
    },
  };
}
