/** Whose requests are counted together, and how many they may send in a minute (spec §8). No I/O. */
import type { Caller } from '@trestle/identity';
import type { Subject } from './rate-limiter.ts';

/** Requests per minute of each plan, and of each address without a valid credential. */
export interface Limits {
  readonly anonymous: number;
  readonly free: number;
  readonly pro: number;
}

/** A caller as far as its limit depends on it. */
export type LimitedCaller = Pick<Caller, 'userId' | 'sessionId' | 'clientId' | 'plan' | 'requestsPerMinute'>;

/**
 * Returns whose requests a request is counted with. API keys and OAuth grants have windows of their own; all other sessions of an account
 * share one. A request without a valid credential is counted by its client, an address or an IPv6 /64 network. An account with a number
 * of its own has that number; the plan `enterprise` without one has that of `pro`.
 */
export function toSubject(caller: LimitedCaller | null, client: string, limits: Limits): Subject {
  if (!caller) return { key: `address:${client}`, policy: 'anonymous', limit: limits.anonymous };
  const { userId, sessionId, clientId, plan, requestsPerMinute } = caller;
  const isOwnWindow = sessionId !== null && (clientId !== null || sessionId.startsWith('key_'));
  return {
    key: isOwnWindow ? `session:${sessionId}` : `user:${userId}`,
    policy: plan,
    limit: requestsPerMinute ?? (plan === 'free' ? limits.free : limits.pro),
  };
}

/**
 * Returns the subject under which the API keys are counted that are checked for a client: as many in a minute as it may send requests without a valid
 * credential.
 */
export function toKeyChecks(client: string, { anonymous }: Limits): Subject {
  return { key: `keys:${client}`, policy: 'anonymous', limit: anonymous };
}
