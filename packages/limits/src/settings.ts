/** The settings of the rate limits, to be spread into a process's own config.ts, and the limiter that they give. */
import type { IncomingMessage } from 'node:http';
import { type readSettings, setting } from '@trestle/env';
import type { Log } from '@trestle/log';
import { toLimitFault } from '@trestle/schema/limit-fault';
import { clientOf, passedClientOf } from '@trestle/service/clients/client-id';
import { hasCredential } from '@trestle/service/messages/has-credential';
import { type Quota, UNCOUNTED, createQuota } from './quota.ts';
import { toRateLimitHeaders } from './headers.ts';
import { type SharedWindows, createRateLimiter } from './rate-limiter.ts';
import { createSlidingWindows } from './sliding-windows.ts';
import { type LimitedCaller, type Limits, toKeyChecks, toSubject } from './subjects.ts';

const MAX_PER_MINUTE = 1_000_000_000;

/** Declares the settings (contract §1). */
export const rateLimitSettings = {
  RATE_LIMIT_ANONYMOUS_PER_MIN: setting.integer(1, MAX_PER_MINUTE).default(100),
  RATE_LIMIT_FREE_PER_MIN: setting.integer(1, MAX_PER_MINUTE).default(100),
  RATE_LIMIT_PRO_PER_MIN: setting.integer(1, MAX_PER_MINUTE).default(1000),
  REDIS_URL: setting.url('redis:', 'rediss:').optional(),
};

/** The values of these settings. */
export type RateLimitSettings = ReturnType<typeof readSettings<typeof rateLimitSettings>>;

/** The rate limits of a process. */
export interface RateLimits {
  /**
   * Creates the quota of a request, or of one operation of the connection that the request has opened. `caller` is null without a valid
   * credential. A request that another process of this system has passed on was counted there, and is not counted again.
   */
  readonly open: (request: object, caller: LimitedCaller | null) => Quota;
  /**
   * Returns the headers of a response that is sent before the caller is known, and takes nothing: those of the client's address; none for a
   * request with a credential, whose limit is another one.
   */
  readonly describe: (request: Pick<IncomingMessage, 'headers' | 'url'>) => readonly string[];
  /**
   * Counts a request that is refused before anything can know its caller, such as one that is not well-formed: for the client's address, whatever
   * credential it has. Returns the headers of the refusal at once, with what is left in this process; Redis is asked, and not waited for. The refusal
   * stays as it is when nothing is left. Never throws.
   */
  readonly countRefusal: (request: object) => readonly string[];
  /**
   * Takes one of the checks of API keys that the client of a request has in a minute: as many as it may send requests without a valid credential. The
   * returned function gives it back. Its requests do not count here: a valid key has a limit of its own (spec §8). Throws RATE_LIMIT_EXCEEDED when no
   * check is left.
   */
  readonly reserve: (request: object) => () => void;
  readonly close: () => void;
}

const NONE: readonly string[] = [];
const NOTHING = () => undefined;

/** Limits nothing. */
export const NO_RATE_LIMITS: RateLimits = {
  open: () => UNCOUNTED,
  describe: () => NONE,
  countRefusal: () => NONE,
  reserve: () => NOTHING,
  close: NOTHING,
};

/**
 * Creates the limiter. `nearby` are the windows that the processes of this machine share without Redis, or while it cannot be used. Resolves when it turned out whether Redis can
 * be used, which takes at most some seconds; never rejects.
 */
export async function createRateLimits(settings: RateLimitSettings, log: Log, nearby?: SharedWindows): Promise<RateLimits> {
  const { REDIS_URL: url } = settings;
  // Loaded where it is used only.
  const redis = url === undefined ? undefined : (await import('./redis-windows.ts')).createRedisWindows({ url, log });
  await redis?.settled;
  const shared = [redis, nearby].filter((each) => each !== undefined);
  const limiter = createRateLimiter({ windows: createSlidingWindows(), shared });
  const limits: Limits = {
    anonymous: settings.RATE_LIMIT_ANONYMOUS_PER_MIN,
    free: settings.RATE_LIMIT_FREE_PER_MIN,
    pro: settings.RATE_LIMIT_PRO_PER_MIN,
  };
  const open: RateLimits['open'] = (request, caller) =>
    passedClientOf(request) ? UNCOUNTED : createQuota(limiter, toSubject(caller, clientOf(request), limits));
  return {
    open,
    describe: (request) =>
      passedClientOf(request) || hasCredential(request)
        ? NONE
        : toRateLimitHeaders(limiter.look(toSubject(null, clientOf(request), limits))),
    countRefusal: (request) =>
      passedClientOf(request) ? NONE : toRateLimitHeaders(limiter.count(toSubject(null, clientOf(request), limits))),
    reserve(request) {
      if (passedClientOf(request)) return NOTHING;
      const subject = toKeyChecks(clientOf(request), limits);
      const release = limiter.reserve(subject);
      if (!release)
        throw toLimitFault('Too many API keys of the address are being checked, or were invalid. Retry after 1 second.', subject);
      return release;
    },
    close: () => {
      limiter.close();
    },
  };
}
