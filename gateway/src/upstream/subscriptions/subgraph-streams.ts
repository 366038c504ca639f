/** Subscriptions of subgraphs by server-sent events: a request for each (GraphQL over SSE, distinct connections mode). */
import { type ServerAddress, toServerAddress, toServerKey } from '@trestle/http-client/server-address';
import type { ReadTls } from '@trestle/http-client/upstream-client';
import { createConnector } from '@trestle/http-client/undici-connector';
import { Pool } from '@trestle/http-client/undici';
import type { Pool as UndiciPool } from 'undici';
import { SubgraphStream } from './subgraph-stream.ts';
import { toHttpUrl, toSubscriptionHeaders } from './subscription-request.ts';
import type { SubscriptionPool } from './subscription-upstream.ts';

const CONNECT_TIMEOUT_MS = 5000;
/** Servers send the head of the response before the first event. */
const HEAD_TIMEOUT_MS = 30_000;

/** The protocol asks for exactly this value. */
const ACCEPT = 'text/event-stream';

/** The connections to one address, which exist while it has subscriptions. */
interface Connections {
  readonly pool: UndiciPool;
  readonly streams: Set<SubgraphStream>;
}

/** Creates the connections. They are opened when they are first needed, as many as there are subscriptions. */
export function createSubgraphStreams(): SubscriptionPool {
  const open = new Map<string, Connections>();
  const connectionsTo = (key: string, { origin, socketPath }: ServerAddress, tls: ReadTls): Connections => {
    const known = open.get(key);
    if (known) return known;
    const connect = createConnector({ connectTimeoutMs: CONNECT_TIMEOUT_MS, socketPath, tls });
    const pool = new Pool(origin, { connections: null, connect, allowH2: true, headersTimeout: HEAD_TIMEOUT_MS, bodyTimeout: 0 });
    const created = { pool, streams: new Set<SubgraphStream>() };
    open.set(key, created);
    return created;
  };
  return {
    open({ name, url: address, tls, signer }) {
      const url = toHttpUrl(address);
      // Subgraphs at one address may have certificates of their own.
      const server = toServerAddress(url);
      const key = `${name}\n${toServerKey(server)}`;
      return {
        url: url.href,
        subscribe(request, receiver) {
          const { pool, streams } = connectionsTo(key, server, tls);
          const stream = new SubgraphStream(receiver, () => {
            streams.delete(stream);
            if (streams.size > 0) return;
            open.delete(key);
            pool.destroy().catch(() => undefined);
          });
          streams.add(stream);
          const headers = toSubscriptionHeaders(request, ACCEPT);
          const { path } = server;
          const body = JSON.stringify(request.payload);
          const send = (all: string[]) => pool.dispatch({ method: 'POST', path, headers: all, body }, stream);
          if (!signer) send(headers);
          else
            signer.sign({ method: 'POST', host: new URL(server.origin).host, path, headers, body }).then(
              (signed) => streams.has(stream) && send(signed),
              (error: unknown) => {
                stream.fail(error as Error);
              },
            );
          return () => {
            stream.abort();
          };
        },
      };
    },
    close() {
      for (const { streams } of [...open.values()]) for (const stream of [...streams]) stream.abort();
    },
  };
}
