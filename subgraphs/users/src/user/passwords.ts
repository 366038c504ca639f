/** Password hashes: argon2id with the parameters that OWASP recommends (19 MiB, 2 passes, 1 lane). */
import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { createConcurrencyLimit } from './concurrency-limit.ts';

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
/** Each hash takes 50 ms of a core and 19 MiB: more at once would starve other requests, and so would one on every core. */
const MAX_AT_ONCE = Math.min(2, Math.max(1, availableParallelism() - 1));

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

/** Creates the hashing of a process. `maxAtOnce` is for tests. */
export function createPasswords(maxAtOnce = MAX_AT_ONCE): Passwords {
  const limit = createConcurrencyLimit(maxAtOnce);
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
