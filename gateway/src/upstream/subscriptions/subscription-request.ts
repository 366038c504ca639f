/** The POST of a subscription, for the protocols that send one for each. No I/O. */
import { mayInsert } from '../../headers/header-names.ts';
import type { SubscribeRequest } from './subscription-upstream.ts';

/** Returns the headers, names and values in turn. An identity also has what is no header: the labels that an extension has chosen. */
export function toSubscriptionHeaders({ identity, requestId }: SubscribeRequest, accept: string): string[] {
  const ofCaller = identity.filter((_, i) => mayInsert(identity[i - (i % 2)] ?? ''));
  return ['content-type', 'application/json', 'accept', accept, 'x-request-id', requestId, ...ofCaller];
}

/** Returns the address for HTTP. Settings may have that of a WebSocket. */
export function toHttpUrl(address: string): URL {
  return new URL(address.replace(/^ws/, 'http'));
}
