/** Messages that a subgraph sends to a callback URL (Apollo's HTTP callback protocol for subscriptions, 1.0). No I/O. */
import { timingSafeEqual } from 'node:crypto';
import type { SubgraphError } from '../../../program/result.ts';
import { isObject, parseObject } from '../../../request/json.ts';
import type { SourceReceiver } from '../subscription-upstream.ts';

export type CallbackMessage =
  /** The subgraph asks whether the subscription still exists. */
  | { readonly action: 'check' }
  | { readonly action: 'next'; readonly payload: Parameters<SourceReceiver['next']>[0] }
  /** The subscription has ended; with errors, it has failed. */
  | { readonly action: 'complete'; readonly errors: readonly SubgraphError[] };

/** By what a message shows that it is from the subgraph that was given the URL. */
export interface CallbackIdentity {
  readonly id: string;
  readonly verifier: string;
}

/** Returns the message; undefined for what is none, and for one with another id or verifier. */
export function readCallbackMessage(text: string, expected: CallbackIdentity): CallbackMessage | undefined {
  const message = parseObject(text);
  if (message?.['kind'] !== 'subscription' || message['id'] !== expected.id || !isEqual(message['verifier'], expected.verifier))
    return undefined;
  const { action, payload, errors } = message;
  if (action === 'check') return { action };
  if (action === 'next') return isObject(payload) ? { action, payload } : undefined;
  // Some servers write null for what they leave out.
  if (action !== 'complete' || (errors !== undefined && errors !== null && !Array.isArray(errors))) return undefined;
  return { action, errors: (errors ?? []) as readonly SubgraphError[] };
}

/** Takes as long for every verifier of the same length. */
function isEqual(sent: unknown, expected: string): boolean {
  if (typeof sent !== 'string') return false;
  const [a, b] = [Buffer.from(sent), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
