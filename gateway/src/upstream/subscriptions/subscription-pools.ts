/** Subscriptions of subgraphs: by which protocol, at which address, and with which headers. */
import type { ReadTls } from '@trestle/http-client/upstream-client';
import type { RewriteHeaders } from '../../headers/header-rules.ts';
import { toHeaders } from '../../request/identity.ts';
import type { RequestSigner } from '../signing/request-signer.ts';
import type { AddressHealth } from '../clients/address-health.ts';
import type { CallbackRegistry } from './callbacks/callback-registry.ts';
import { createSubgraphCallbacks } from './callbacks/subgraph-callbacks.ts';
import { createSubgraphSockets } from './subgraph-sockets.ts';
import { createSubgraphStreams } from './subgraph-streams.ts';
import type { SubscriptionPool, SubscriptionProtocol, SubscriptionUpstream } from './subscription-upstream.ts';

/** Returns the subscriptions by each protocol. Settings with `callback` are valid only where callbacks are received. */
export function createSubscriptionPools(pingIntervalMs: number, callbacks: CallbackRegistry | undefined) {
  return {
    ws: createSubgraphSockets({ pingIntervalMs }),
    sse: createSubgraphStreams(),
    callback: callbacks && createSubgraphCallbacks(callbacks),
  } satisfies Record<SubscriptionProtocol, SubscriptionPool | undefined>;
}

/** Where the subscriptions of a subgraph are. */
export interface SubscriptionPlace {
  readonly name: string;
  readonly urls: string | readonly URL[];
  readonly tls: ReadTls;
  readonly signer?: RequestSigner | undefined;
}

/** Returns the subscriptions at one address, or at several: each goes to one that is not ejected. */
export function openSubscriptions(
  pool: SubscriptionPool,
  { name, urls, tls, signer }: SubscriptionPlace,
  health: AddressHealth | undefined,
): SubscriptionUpstream {
  const all = (typeof urls === 'string' ? [urls] : urls.map(({ href }) => href)).map((url) => pool.open({ name, url, tls, signer }));
  const [first] = all as [SubscriptionUpstream];
  if (!health || all.length === 1) return first;
  return { url: first.url, subscribe: (request, receiver) => (all[health.pick()] as SubscriptionUpstream).subscribe(request, receiver) };
}

/** An event follows a change, so the fetches for it must not get what was read before the change. */
export function watchEvents(subscriptions: SubscriptionUpstream, noteChange: () => void): SubscriptionUpstream {
  return {
    ...subscriptions,
    subscribe: (request, receiver) =>
      subscriptions.subscribe(request, {
        ...receiver,
        next(result, size) {
          noteChange();
          receiver.next(result, size);
        },
      }),
  };
}

/** The rules for headers also apply to the payload that identifies the caller on a WebSocket of a subgraph, which gets headers only. */
export function withRules(subscriptions: SubscriptionUpstream, rewrite: RewriteHeaders | undefined): SubscriptionUpstream {
  return {
    ...subscriptions,
    subscribe: (request, receiver) => {
      const headers = toHeaders(request.identity);
      return subscriptions.subscribe({ ...request, identity: rewrite ? rewrite(headers, request.identity) : headers }, receiver);
    },
  };
}
