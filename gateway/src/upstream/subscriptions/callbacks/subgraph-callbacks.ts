/** Subscriptions of subgraphs whose events arrive at a callback URL (Apollo's HTTP callback protocol, 1.0). */
import { createUndiciClient } from '@trestle/http-client/undici-client';
import { type ServerAddress, toServerAddress, toServerKey } from '@trestle/http-client/server-address';
import type { ClientResponse, ReadTls, UpstreamClient } from '@trestle/http-client/upstream-client';
import type { SubgraphError } from '../../../program/result.ts';
import { parseObject } from '../../../request/json.ts';
import { signRequests } from '../../signing/signing-client.ts';
import { toHttpUrl, toSubscriptionHeaders } from '../subscription-request.ts';
import type { SourceReceiver, SubscribeRequest, SubscriptionPool } from '../subscription-upstream.ts';
import type { CallbackRegistry, CallbackTicket } from './callback-registry.ts';

const ACCEPT = 'application/json;callbackSpec=1.0, application/json';
const LIMITS = { maxConnections: 64, connectTimeoutMs: 5000, timeoutMs: 30_000, maxResponseBytes: 1024 * 1024 };

/**
 * Creates the subscriptions. Subgraphs respond to a request when they have called back for the first time. The pool ends with the process, after the
 * port of callbacks was closed, so nothing is received for subscriptions that are still open then.
 */
export function createSubgraphCallbacks(registry: CallbackRegistry): SubscriptionPool {
  const clients = new Map<string, UpstreamClient>();
  const clientOf = (key: string, { origin, socketPath }: ServerAddress, tls: ReadTls) => {
    const client = clients.get(key) ?? createUndiciClient(origin, { ...LIMITS, socketPath, tls });
    clients.set(key, client);
    return client;
  };
  return {
    open({ name, url: address, tls, signer }) {
      const url = toHttpUrl(address);
      const server = toServerAddress(url);
      const plain = clientOf(`${name}\n${toServerKey(server)}`, server, tls);
      const { timeoutMs } = LIMITS;
      const client = signer ? signRequests(plain, { signer, host: new URL(server.origin).host, timeoutMs }) : plain;
      return {
        url: url.href,
        subscribe(request, receiver) {
          const ticket = registry.open(receiver);
          const { subscriptionId: id } = ticket;
          const headers = toSubscriptionHeaders(request, ACCEPT);
          const sent = client.send(
            { path: server.path, headers, body: toBody(request, ticket) },
            {
              onResponse: (response) => {
                const failure = findFailure(response);
                if (failure) failure(registry.close(id));
              },
              onFailure: (cause) => registry.close(id)?.lost({ isUnauthorized: false, cause }),
            },
          );
          return () => {
            registry.close(id);
            sent.abort(new Error('The subscription has ended'));
          };
        },
      };
    },
    close() {
      for (const client of clients.values()) client.close().catch(() => undefined);
    },
  };
}

function toBody({ payload }: SubscribeRequest, subscription: CallbackTicket): string {
  return JSON.stringify({ ...payload, extensions: { ...payload.extensions, subscription } });
}

/** Returns what the response says of a subscription that will have no events; undefined for one that was accepted, with `{"data": null}`. */
function findFailure(response: ClientResponse): ((receiver: SourceReceiver | undefined) => void) | undefined {
  const { status, bytes, bodyStart, bodyEnd } = response;
  const result = parseObject(bytes.toString('utf8', bodyStart, bodyEnd));
  const isUnauthorized = status === 401 || status === 403;
  const { data, errors } = result ?? {};
  if (status === 200 && data === null && errors === undefined) return undefined;
  if (!isUnauthorized && Array.isArray(errors) && errors.length > 0) return (receiver) => receiver?.refused(errors as SubgraphError[]);
  return (receiver) =>
    receiver?.lost({ isUnauthorized, cause: new Error(`The subgraph responded to a subscription with ${String(status)}`) });
}
