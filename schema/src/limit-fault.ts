/** The error of a limit of rate or number, with the members that spec §7.1 demands. No I/O. */
import { type Fault, fail } from './errors.ts';

/** A limit that a client has reached. */
export interface ReachedLimit {
  readonly limit: number;
  /** Seconds after which the client may try again. Default: 1, for what may end at any time. */
  readonly retryAfterSeconds?: number;
}

/** Returns RATE_LIMIT_EXCEEDED for a limit of which nothing is left. */
export function toLimitFault(message: string, { limit, retryAfterSeconds = 1 }: ReachedLimit): Fault {
  const resetAt = toResetTime(Date.now() + retryAfterSeconds * 1000);
  return fail('RATE_LIMIT_EXCEEDED', message, { retryAfterSeconds, rateLimit: { limit, remaining: 0, resetAt } });
}

/** Returns a time as spec §2.1 writes it: the next whole second, so that it does not lie before `Retry-After` has passed. `ms` are since the epoch. */
export function toResetTime(ms: number): string {
  return new Date(Math.ceil(ms / 1000) * 1000).toISOString().replace('.000Z', 'Z');
}
