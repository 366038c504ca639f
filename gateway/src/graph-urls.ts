/**
 * The public addresses of a graph: that of the process, with the path of the graph and, for a graph of certain hosts, with the host of the request.
 */
import type { IncomingMessage } from 'node:http';
import { readHostName } from './choose-graph.ts';
import type { GraphPlace } from './configuration/graph-places.ts';

/** The addresses by which clients know a graph. */
export interface GraphUrls {
  /** Returns the address at which a request has reached the graph, without `/` at its end. */
  readonly of: (request: Pick<IncomingMessage, 'headers'>) => string;
  /** The origins of all its addresses. */
  readonly origins: readonly string[];
}

/** Creates them by the address of the process (`server.publicUrl`). */
export function createGraphUrls(publicUrl: string, { path, hosts }: Pick<GraphPlace, 'path' | 'hosts'>): GraphUrls {
  const at = (host: string) => {
    const url = new URL(publicUrl);
    url.hostname = host;
    return url;
  };
  const write = ({ href }: URL) => href.replace(/\/$/, '') + path;
  const whole = write(new URL(publicUrl));
  return {
    // The graph was chosen by the host: it is one of these.
    of: hosts.length === 0 ? () => whole : ({ headers }) => write(at(readHostName(headers.host))),
    origins: [new URL(publicUrl), ...hosts.map(at)].map(({ origin }) => origin),
  };
}
