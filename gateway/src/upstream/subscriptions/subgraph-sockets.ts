/**
 * WebSockets to subgraphs for subscriptions: one for each address and identity, and another one when that is full (graphql-transport-ws). A large
 * subscription has one of its own.
 */
import { SubgraphSocket } from './subgraph-socket.ts';
import type { SubscribePayload, SubscribeRequest, SubscriptionAddress, SubscriptionPool } from './subscription-upstream.ts';

/** Servers limit the subscriptions of a socket; our subgraphs accept 1,000. */
const MAX_SUBSCRIPTIONS = 500;
/** Servers close a connection for a larger message than they accept (1009), often 8 KiB: the subscriptions of other clients must not end with it. */
const LARGE_CHARACTERS = 8000;

/** Creates the pool of sockets. They are opened when they are first needed. */
export function createSubgraphSockets({ pingIntervalMs }: { pingIntervalMs: number }): SubscriptionPool {
  const sockets = new Map<string, Set<SubgraphSocket>>();
  let large = 0;
  const socketOf = (
    { name, url, tls, signer }: SubscriptionAddress,
    { identity, requestId, payload }: SubscribeRequest,
  ): SubgraphSocket => {
    const own = isLarge(payload) ? [`#${String(++large)}`] : [];
    // Subgraphs at one address may have certificates of their own.
    const key = [name, url, signer?.key ?? '', ...identity, ...own].join('\n');
    const known = sockets.get(key) ?? new Set();
    for (const socket of known) if (socket.isUsable && socket.size < MAX_SUBSCRIPTIONS) return socket;
    const connectionParams: Record<string, string> = { 'x-request-id': requestId };
    identity.forEach((name, i) => {
      if (i % 2 === 0) connectionParams[name] = identity[i + 1] as string;
    });
    const onClosed = () => {
      known.delete(opened);
      if (known.size === 0 && sockets.get(key) === known) sockets.delete(key);
    };
    const opened: SubgraphSocket = new SubgraphSocket({ url, tls, signer, connectionParams, pingIntervalMs, onClosed });
    sockets.set(key, known.add(opened));
    return opened;
  };
  return {
    open(address) {
      // A fragment is not part of a request (RFC 6455 §3), and `ws` refuses it.
      const [whole = ''] = address.url.split('#');
      const target = { ...address, url: whole.replace(/^http/, 'ws') };
      return { url: target.url, subscribe: (request, receiver) => socketOf(target, request).subscribe(request.payload, receiver) };
    },
    close() {
      for (const socket of [...sockets.values()].flatMap((each) => [...each])) socket.close();
    },
  };
}

function isLarge({ query, variables }: SubscribePayload): boolean {
  return query.length > LARGE_CHARACTERS || query.length + JSON.stringify(variables).length > LARGE_CHARACTERS;
}
