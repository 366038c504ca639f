/** Subscriptions of subgraphs whose events arrive at a callback URL (Apollo's HTTP callback protocol, 1.0). */
import { createUndiciClient } from '@trestle/http-client/undici-client';
import type { ClientResponse, ReadTls, UpstreamClient } from '@trestle/http-client/upstream-client';
import type { SubgraphError } from '../../program/result.ts';
import type { SourceReceiver, SubscribeRequest, SubscriptionPool } from '../subscription-upstream.ts';
import type { CallbackRegistry, CallbackTicket } from './callback-registry.ts';

const LIMITS = { maxConnections: 64, connectTimeoutMs: 5000, timeoutMs: 30_000, maxResponseBytes: 1024 * 1024 };

/** Creates the subscriptions. Subgraphs respond to a request when they have called back for the first time. */
export function createSubgraphCallbacks(registry: CallbackRegistry): SubscriptionPool {
  const clients = new Map<string, UpstreamClient>();
  const open = new Set<string>();
  const clientOf = (key: string, { origin }: URL, tls: ReadTls) => {
    const client = clients.get(key) ?? createUndiciClient(origin, { ...LIMITS, tls });
    clients.set(key, client);
    return client;
  };
  return {
    open(name, address, tls) {
      const url = new URL(address.replace(/^ws/, 'http'));
      const client = clientOf(`${name}\n${url.origin}`, url, tls);
      return {
        url: url.href,
        subscribe(request, receiver) {
          const end = () => {
            open.delete(ticket.subscriptionId);
          };
          const ticket = registry.open(toEnding(receiver, end));
          const { subscriptionId: id } = ticket;
          open.add(id);
          const sent = client.send(
            { path: url.pathname + url.search, headers: toHeaders(request), body: toBody(request, ticket) },
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
            end();
            sent.abort(new Error('The subscription has ended'));
          };
        },
      };
    },
    close() {
      for (const id of open) registry.close(id);
      open.clear();
      for (const client of clients.values()) client.close().catch(() => undefined);
    },
  };
}

/** Returns the receiver, which also calls `end` before its last call. */
function toEnding(receiver: SourceReceiver, end: () => void): SourceReceiver {
  return {
    next: (result) => {
      receiver.next(result);
    },
    refused: (errors) => {
      end();
      receiver.refused(errors);
    },
    complete: () => {
      end();
      receiver.complete();
    },
    lost: (loss) => {
      end();
      receiver.lost(loss);
    },
  };
}

function toHeaders({ identity, requestId }: SubscribeRequest): string[] {
  const accept = 'application/json;callbackSpec=1.0, application/json';
  return ['content-type', 'application/json', 'accept', accept, 'x-request-id', requestId, ...identity];
}

function toBody({ payload }: SubscribeRequest, subscription: CallbackTicket): string {
  return JSON.stringify({ ...payload, extensions: { ...payload.extensions, subscription } });
}

/** Returns what the response says of a subscription that will have no events; undefined for one that was accepted, with `{"data": null}`. */
function findFailure(response: ClientResponse): ((receiver: SourceReceiver | undefined) => void) | undefined {
  const { status, bytes, bodyStart, bodyEnd } = response;
  const result = parseResult(bytes.toString('utf8', bodyStart, bodyEnd));
  const isUnauthorized = status === 401 || status === 403;
  if (status === 200 && result?.data === null && result.errors === undefined) return undefined;
  const { errors } = result ?? {};
  if (!isUnauthorized && Array.isArray(errors) && errors.length > 0) return (receiver) => receiver?.refused(errors as SubgraphError[]);
  return (receiver) =>
    receiver?.lost({ isUnauthorized, cause: new Error(`The subgraph responded to a subscription with ${String(status)}`) });
}

function parseResult(text: string): { readonly data?: unknown; readonly errors?: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
