/** What every resolver is told of the request it works for. */
import type { Caller } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';

/** A guarded field that showed its mask in this response: where first, and how often. */
export interface Denial {
  readonly coordinate: string;
  readonly requires: string;
  readonly path: readonly (string | number)[];
  count: number;
}

/** A client's word that a request with the same key is the same request (spec §8). */
export interface IdempotencyKey {
  readonly key: string;
  /** Method and path of the client's own request, as the bridge tells them, e.g. `POST /payments`; else empty. */
  readonly scope: string;
  /** Whether anything of the response was kept from an earlier request; told to the client at the end. */
  replayed: boolean;
}

export interface RequestContext {
  /** Who is calling; null for anonymous callers. */
  readonly caller: Caller | null;
  readonly requestId: string;
  /** By field coordinate; filled by the auth directive, told to the client at the end. */
  readonly denials: Map<string, Denial>;
  readonly idempotency: IdempotencyKey | null;
  /** What the process reports of an HTTP request; absent for operations of a WebSocket. */
  readonly report?: RequestReport | undefined;
}

/** What is learnt of a request while it is worked on, for its line in the log. */
export interface RequestReport {
  readonly requestId: string;
  operation: string | undefined;
}

/** The caller of a request that needs one. Throws UNAUTHORIZED for anonymous callers (spec §5.7). */
export function requireCaller({ caller }: RequestContext): Caller {
  if (!caller) throw fail('UNAUTHORIZED', 'Authentication is required');
  return caller;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A request's id as a client sent it, or undefined for what is no UUID. */
export function readRequestId(sent: unknown): string | undefined {
  return typeof sent === 'string' && UUID.test(sent) ? sent : undefined;
}
