/** Limits how often password resets are requested: for one account, known or not, and from one network (ADR 20). */
import { toLimitFault } from '@trestle/schema/limit-fault';
import { ATTEMPT_LIMITS, type AttemptKind, createAttemptKeys } from '../login/attempt-limits.ts';
import { OWN_NETWORKS } from '../login/attempts.ts';
import type { SessionClient } from '../session/store.ts';
import type { UsersStores } from '../stores.ts';

/** Counts requests. */
export interface ResetLimits {
  /** Counts a request. Throws RATE_LIMIT_EXCEEDED when there were too many, the same for accounts that do not exist. */
  count(stores: Pick<UsersStores, 'attempts'>, request: { readonly subject: string; readonly client: SessionClient }): Promise<void>;
  /** Counts a mail to an account, by whichever name it was requested. Returns whether it may be sent. */
  mayMail(stores: Pick<UsersStores, 'attempts'>, account: string): Promise<boolean>;
}

/** Creates the limits. `secret` is what keys of counters are derived from. */
export function createResetLimits(secret: string): ResetLimits {
  const toKey = createAttemptKeys(secret);
  return {
    async count({ attempts }, { subject, client: { network, address } }) {
      const isCounted = network !== null && !OWN_NETWORKS.has(address);
      const counters: [AttemptKind, string][] = [
        ...(isCounted ? [['resetNetwork', network] as [AttemptKind, string]] : []),
        ['reset', subject],
      ];
      for (const [kind, name] of counters) {
        const key = toKey(kind, name);
        if ((await attempts.count(key, ATTEMPT_LIMITS[kind])) === undefined)
          throw refusal(await attempts.secondsLeft(key), ATTEMPT_LIMITS[kind].firstDelayed);
      }
    },
    mayMail: async ({ attempts }, account) => (await attempts.count(toKey('resetMail', account), ATTEMPT_LIMITS.resetMail)) !== undefined,
  };
}

function refusal(retryAfterSeconds: number, limit: number): Error {
  return toLimitFault(`Too many password resets were requested. Retry after ${String(retryAfterSeconds)} seconds.`, {
    limit,
    retryAfterSeconds,
  });
}
