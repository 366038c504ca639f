/** The HTTP clients of all subgraphs: one for each subgraph, address and limits, and others for requests with files. */
import type { Readable } from 'node:stream';
import { type PoolOptions, createConnectionPool } from '@trestle/http-client/connection-pool';
import { createHttp2Client } from '@trestle/http-client/http2/http2-client';
import { toServerAddress, toServerKey } from '@trestle/http-client/server-address';
import { createUndiciClient } from '@trestle/http-client/undici-client';
import type { ReadTls, UpstreamClient } from '@trestle/http-client/upstream-client';
import { AddressHealth } from './address-health.ts';
import { BalancedClient } from './balanced-client.ts';
import { persistQueries } from './persisted-client.ts';
import type { RequestSigner } from '../signing/request-signer.ts';
import { signRequests } from '../signing/signing-client.ts';
import type { SubgraphTraffic, UpstreamClientName } from '../traffic/traffic-settings.ts';

const CONNECT_TIMEOUT_MS = 2000;

/** Where a subgraph is, and the limits of requests to it. */
export interface SubgraphPlace {
  readonly name: string;
  /** At least one. */
  readonly urls: readonly URL[];
  readonly traffic: SubgraphTraffic;
  /** What signs each request; undefined for none. Equal settings have the same one. */
  readonly signer?: RequestSigner | undefined;
}

/** The clients of one subgraph. */
export interface SubgraphClients {
  readonly client: UpstreamClient;
  /** Sends requests with files, over connections of its own: they are busy for long. */
  readonly uploadClient: UpstreamClient<Readable>;
  /** Undefined for a single address. */
  readonly health: AddressHealth | undefined;
}

export interface ClientPoolOptions {
  /** Returns what connections to the subgraph by TLS use. */
  readonly tls: (name: string) => ReadTls;
  /** Returns the client that is used in place of a new one of the subgraph. */
  readonly watch: (name: string, client: UpstreamClient) => UpstreamClient;
  /** Called when the last connection of a client that `watch` has returned is closed, because no configuration uses it. */
  readonly unwatch: (name: string, client: UpstreamClient) => void;
  /** Called when an address of the subgraph is ejected. */
  readonly onEject: (name: string, url: URL) => void;
}

export interface ClientPool {
  /** Returns the clients of a subgraph, the same ones for the same place until each that has opened it has released it. */
  open(place: SubgraphPlace): SubgraphClients;
  /** Called once for each {@link open}. Clients that nobody uses close each connection after its last request. */
  release(place: SubgraphPlace): void;
  close(): Promise<void>;
}

/** Creates the pool. Clients open connections when they are first needed. */
export function createClientPool(options: ClientPoolOptions): ClientPool {
  const used = new Map<string, SubgraphClients & { users: number }>();
  const retiring = new Set<SubgraphClients>();
  const retire = async (name: string, clients: SubgraphClients) => {
    retiring.add(clients);
    await Promise.all([clients.client.retire(), clients.uploadClient.retire()]);
    retiring.delete(clients);
    options.unwatch(name, clients.client);
  };
  return {
    open(place) {
      const key = toKey(place);
      const clients = used.get(key) ?? { ...createClients(place, options), users: 0 };
      clients.users++;
      used.set(key, clients);
      return clients;
    },
    release(place) {
      const key = toKey(place);
      const clients = used.get(key);
      if (!clients || --clients.users > 0) return;
      used.delete(key);
      void retire(place.name, clients);
    },
    async close() {
      const all = [...used.values(), ...retiring];
      await Promise.all(all.flatMap(({ client, uploadClient }) => [client.close(), uploadClient.close()]));
    },
  };
}

/**
 * Subgraphs at one origin have connections of their own: a slow one must not use up those of the others. A client keeps its limits: with others, the
 * next requests go through another client.
 */
function toKey({ name, urls, traffic, signer }: SubgraphPlace): string {
  const { client, timeoutMs, maxConnections, idleTimeoutMs, maxResponseBytes, ejectionFailures, ejectionMs, persistedQueries } = traffic;
  // The path belongs to each request, unless there are several addresses.
  const places = urls.length === 1 ? urls.map((url) => toServerKey(toServerAddress(url))) : urls.map(({ href }) => href);
  const limits = [timeoutMs, maxConnections, idleTimeoutMs, maxResponseBytes, ejectionFailures, ejectionMs, persistedQueries];
  return JSON.stringify([name, places, client, ...limits, signer?.key]);
}

type CreateClient<Body> = (origin: string, options: PoolOptions) => UpstreamClient<Body>;

/** What creates the client of fetches and that of requests with files, which are streamed. */
const CREATE: Readonly<Record<UpstreamClientName, readonly [CreateClient<string>, CreateClient<Readable>]>> = {
  lean: [createConnectionPool, createUndiciClient],
  undici: [createUndiciClient, createUndiciClient],
  http2: [createHttp2Client, createHttp2Client],
};

function createClients({ name, urls, traffic, signer }: SubgraphPlace, { tls, watch, onEject }: ClientPoolOptions): SubgraphClients {
  const { timeoutMs, maxConnections, idleTimeoutMs: idleMs, maxResponseBytes, ejectionFailures: maxFailures, ejectionMs } = traffic;
  const limits = { maxConnections, connectTimeoutMs: CONNECT_TIMEOUT_MS, timeoutMs, idleMs, maxResponseBytes, tls: tls(name) };
  const [create, createForUploads] = CREATE[traffic.client];
  const persist = traffic.persistedQueries ? persistQueries : (client: UpstreamClient) => client;
  const createAt = <Body>(createFor: CreateClient<Body>, url: URL) => {
    const { origin, socketPath } = toServerAddress(url);
    const client = createFor(origin, { ...limits, socketPath });
    return signer ? signRequests(client, { signer, host: new URL(origin).host, timeoutMs }) : client;
  };
  const [only, ...others] = urls;
  if (only && others.length === 0)
    return {
      client: watch(name, persist(createAt(create, only))),
      uploadClient: createAt(createForUploads, only),
      health: undefined,
    };
  const health = new AddressHealth({
    ...{ count: urls.length, maxFailures, ejectionMs },
    onEject: (index) => {
      onEject(name, urls[index] as URL);
    },
  });
  const balance = <Body>(createFor: CreateClient<Body>) =>
    new BalancedClient(
      urls.map((url) => ({ client: createAt(createFor, url), path: toServerAddress(url).path })),
      health,
    );
  return {
    client: watch(name, persist(balance(create))),
    uploadClient: balance(createForUploads),
    health,
  };
}
