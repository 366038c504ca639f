/** What a client reads of a decision: response headers (spec §8, draft-ietf-httpapi-ratelimit-headers-10) and the error of a refusal. */
import { type Fault, fail } from '@trestle/schema/errors';
import { toResetTime } from '@trestle/schema/limit-fault';
import type { Decision, Subject } from './rate-limiter.ts';
import { WINDOW_MS } from './sliding-windows.ts';

const WINDOW_SECONDS = WINDOW_MS / 1000;

/** The names of all headers of a decision, for `Access-Control-Expose-Headers`. */
export const RATE_LIMIT_HEADERS = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'RateLimit', 'RateLimit-Policy'];

/** Returns the headers, names and values in turn. `X-RateLimit-Reset` is the Unix time when `X-RateLimit-Remaining` grows next. */
export function toRateLimitHeaders({ subject, remaining, resetAtMs }: Decision): string[] {
  const { limit, policy } = subject;
  const reset = Math.ceil(resetAtMs / 1000);
  const seconds = Math.max(0, Math.ceil((resetAtMs - Date.now()) / 1000));
  return [
    'x-ratelimit-limit',
    String(limit),
    'x-ratelimit-remaining',
    String(remaining),
    'x-ratelimit-reset',
    String(reset),
    'ratelimit-policy',
    `"${policy}";q=${String(limit)};w=${String(WINDOW_SECONDS)}`,
    'ratelimit',
    `"${policy}";r=${String(remaining)};t=${String(seconds)}`,
  ];
}

/** Returns RATE_LIMIT_EXCEEDED for a decision that is a refusal. */
export function toRateLimitFault({ subject, remaining, resetAtMs, retryAfterSeconds }: Decision): Fault {
  return fail('RATE_LIMIT_EXCEEDED', toMessage(subject, retryAfterSeconds), {
    retryAfterSeconds,
    rateLimit: { limit: subject.limit, remaining, resetAt: toResetTime(resetAtMs) },
  });
}

function toMessage({ limit, policy }: Subject, retryAfterSeconds: number): string {
  return `The rate limit of ${String(limit)} requests per minute (${policy}) is exceeded. Retry after ${String(retryAfterSeconds)} s.`;
}
