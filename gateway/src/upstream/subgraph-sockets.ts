/** The subgraphs' live side: a WebSocket for each address and identity, opened when first needed, and one more when it is full (graphql-transport-ws). */
import { type LivePayload, type LiveSink, type LiveSocket, openLiveSocket } from './subgraph-socket.ts';

export interface LiveRequest {
  /** Headers, names and values in turn, that tell who asks; they go along in `connection_init`. */
  readonly identity: readonly string[];
  readonly requestId: string;
  readonly payload: LivePayload;
}

export interface LiveUpstream {
  readonly url: string;
  /** Gives what ends it: nothing is told from then on, and the subgraph hears of it. */
  subscribe(request: LiveRequest, sink: LiveSink): () => void;
}

export interface LiveSockets {
  /** `url` is an http(s) or ws(s) address. */
  open(url: string): LiveUpstream;
  close(): void;
}

/** Servers limit what one socket carries; ours take 1,000. */
const MAX_SUBSCRIPTIONS = 500;

export function createLiveSockets({ pingIntervalMs }: { pingIntervalMs: number }): LiveSockets {
  const sockets = new Map<string, Set<LiveSocket>>();
  const socketOf = (url: string, { identity, requestId }: LiveRequest): LiveSocket => {
    const key = [url, ...identity].join('\n');
    const known = sockets.get(key) ?? new Set();
    for (const socket of known) if (socket.size < MAX_SUBSCRIPTIONS) return socket;
    const params: Record<string, string> = { 'x-request-id': requestId };
    identity.forEach((name, i) => {
      if (i % 2 === 0) params[name] = identity[i + 1] as string;
    });
    const opened = openLiveSocket({ url, connectionParams: params, pingIntervalMs }, () => {
      known.delete(opened);
      if (known.size === 0 && sockets.get(key) === known) sockets.delete(key);
    });
    sockets.set(key, known.add(opened));
    return opened;
  };
  return {
    open(address) {
      const url = address.replace(/^http/, 'ws');
      return { url, subscribe: (request, sink) => socketOf(url, request).subscribe(request.payload, sink) };
    },
    close() {
      for (const socket of [...sockets.values()].flatMap((each) => [...each])) socket.close();
    },
  };
}
