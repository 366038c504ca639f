/** Password hashes: argon2id with the parameters that OWASP recommends (19 MiB, 2 passes, 1 lane). */
import { hash, verify } from '@node-rs/argon2';
import { fail } from '@trestle/schema/errors';

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each hash takes 50 ms of a core and 19 MiB: more at once would starve other requests. */
const MAX_AT_ONCE = 2;
/** More would wait longer than the gateway does: this many take 3 s on two free cores. */
const MAX_WAITING = 120;
const RETRY_AFTER_SECONDS = 2;

/** Hashes and checks passwords. */
export interface Passwords {
  /** Rejects with SERVICE_UNAVAILABLE while too many wait. */
  hash(password: string): Promise<string>;
  /**
   * Resolves with whether the password matches the hash. It takes as long without a hash, so that the time reveals nothing.
   * Rejects with SERVICE_UNAVAILABLE while too many wait.
   */
  matches(password: string, passwordHash: string | null): Promise<boolean>;
}

export function createPasswords(): Passwords {
  const limit = createLimit(MAX_AT_ONCE);
  let decoy: Promise<string> | undefined;
  return {
    hash: (password) => limit(() => hash(password, PARAMETERS)),
    async matches(password, passwordHash) {
      decoy ??= hash('a password that nobody has', PARAMETERS);
      const known = passwordHash ?? (await decoy);
      const matches = await limit(() => verify(known, password));
      return matches && passwordHash !== null;
    },
  };
}

/** Runs at most `max` tasks at once; the others wait in their order, and are refused when too many wait. */
function createLimit(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (waiting.length >= MAX_WAITING)
      throw fail('SERVICE_UNAVAILABLE', 'Too many logins and new passwords are waiting. Retry after 2 seconds.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
