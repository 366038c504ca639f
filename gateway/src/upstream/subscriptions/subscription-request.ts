/** The POST of a subscription, for the protocols that send one for each. No I/O. */
import type { SubscribeRequest } from './subscription-upstream.ts';

/** Returns the headers, names and values in turn. */
export function toSubscriptionHeaders({ identity, requestId }: SubscribeRequest, accept: string): string[] {
  return ['content-type', 'application/json', 'accept', accept, 'x-request-id', requestId, ...identity];
}

/** Returns the address for HTTP. Settings may have that of a WebSocket. */
export function toHttpUrl(address: string): URL {
  return new URL(address.replace(/^ws/, 'http'));
}
