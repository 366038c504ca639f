/** Bounds what waits behind requests in flight on connections of HTTP/1.1: pipelined requests. */
import type { Socket } from 'node:net';
import { toNetwork } from '../clients/connection-count.ts';

/** What one connection holds. */
export interface ConnectionBytes {
  /** Counts bytes. Returns false, and counts nothing, when the limit of the address or of the process is reached. */
  add(bytes: number): boolean;
  /** Counts bytes no longer. */
  remove(bytes: number): void;
}

/** Counts pipelined bytes of all connections of a server. */
export interface PipelinedBytes {
  /** Returns the count of a connection. It is 0 again when the connection closes. */
  open(socket: Socket): ConnectionBytes;
}

/**
 * Browsers and proxies do not pipeline, and load generators stay below. The limit of one connection does not suffice: a client may open thousands, and
 * its requests in flight may take as long as the costliest query.
 */
const MAX_OF_ADDRESS = 8 * 1024 * 1024;
const MAX_OF_ALL = 16 * 1024 * 1024;

/** Creates a count. IPv6 addresses of one /64 network count as one. The limits are in bytes. */
export function createPipelinedBytes({ maxOfAddress = MAX_OF_ADDRESS, maxOfAll = MAX_OF_ALL } = {}): PipelinedBytes {
  const counts = new Map<string, number>();
  let all = 0;
  const change = (network: string, bytes: number) => {
    all += bytes;
    const rest = (counts.get(network) ?? 0) + bytes;
    if (rest === 0) counts.delete(network);
    else counts.set(network, rest);
  };
  return {
    open(socket) {
      const network = toNetwork(socket.remoteAddress ?? '');
      let own = 0;
      let isClosed = socket.destroyed;
      socket.once('close', () => {
        isClosed = true;
        change(network, -own);
        own = 0;
      });
      return {
        add(bytes) {
          if (isClosed || all + bytes > maxOfAll || (counts.get(network) ?? 0) + bytes > maxOfAddress) return false;
          own += bytes;
          change(network, bytes);
          return true;
        },
        remove(bytes) {
          if (isClosed) return;
          own -= bytes;
          change(network, -bytes);
        },
      };
    },
  };
}
