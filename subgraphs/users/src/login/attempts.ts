/** Checks passwords and codes within the limits of attempts (ADR 20): an attempt is counted first, checked then, and taken back when it succeeds. */
import type { Fault } from '@trestle/schema/errors';
import { toLimitFault } from '@trestle/schema/limit-fault';
import type { SessionClient } from '../session/store.ts';
import type { Transact, UsersStores } from '../stores.ts';
import { createConcurrencyLimit } from '../user/concurrency-limit.ts';
import { ATTEMPT_LIMITS, type AttemptKind, createAttemptKeys } from './attempt-limits.ts';

/** An attempt to prove an identity. */
export interface Attempt {
  readonly kind: Extract<AttemptKind, 'login' | 'password' | 'code'>;
  /** The e-mail address or the id of the account. */
  readonly subject: string;
  /** The account, for the audit trail; undefined when it does not exist. */
  readonly userId: string | undefined;
  readonly client: SessionClient;
}

/** Limits attempts. */
export interface Attempts {
  /**
   * Checks an attempt: `check` resolves with null when it fails. Returns what `check` returns. Failures are recorded in the audit
   * trail; a success forgets those of the subject. Throws RATE_LIMIT_EXCEEDED during a delay, without a check, SERVICE_UNAVAILABLE while
   * too many attempts wait, and what `check` throws: then nothing was counted.
   */
  run<Result>(attempt: Attempt, check: () => Promise<Result | null>): Promise<Result | null>;
  /** Forgets the failures of a subject, whose owner has proved to be the owner in another way. */
  forgive(kind: Attempt['kind'], subject: string): Promise<void>;
}

/** What attempts are counted with. */
export interface AttemptsOptions {
  readonly transact: Transact;
  /** The secret of this deployment that the keys are derived from. */
  readonly secret: string;
}

/**
 * An attempt counts as failed until it has succeeded. More at once would have correct passwords refused that are sent at the same moment,
 * and would not be checked sooner.
 */
const MAX_AT_ONCE = 4;
/** The networks of the machine itself, as they are published. Behind a proxy there that is not in TRUSTED_PROXIES are all people at once. */
export const OWN_NETWORKS: ReadonlySet<string | null> = new Set(['127.0.0.0/24', '0:0:0::/48']);

interface Counter {
  readonly kind: AttemptKind;
  readonly key: Buffer;
}

/** An attempt that was counted, and the delay that its failure causes. */
interface Claim {
  readonly counters: readonly Counter[];
  readonly delays: readonly { readonly kind: AttemptKind; readonly seconds: number }[];
}

/** Creates the limits. */
export function createAttempts({ transact, secret }: AttemptsOptions): Attempts {
  const toKey = createAttemptKeys(secret);
  const limit = createConcurrencyLimit(MAX_AT_ONCE);
  /** The network comes first everywhere, so that concurrent transactions lock rows in the same order. */
  const countersOf = ({ kind, subject, client: { network, address } }: Attempt): Counter[] => [
    ...(network === null || OWN_NETWORKS.has(address) ? [] : [{ kind: 'network' as const, key: toKey('network', network) }]),
    { kind, key: toKey(kind, subject) },
  ];
  const run = async <Result>(attempt: Attempt, check: () => Promise<Result | null>): Promise<Result | null> => {
    const claim = await transact((stores) => claimAttempt(stores, countersOf(attempt)));
    let result: Result | null;
    try {
      result = await check();
    } catch (error) {
      await transact((stores) => takeBack(stores, claim));
      throw error;
    }
    if (result === null) await transact((stores) => recordFailure(stores, attempt, claim));
    else await transact((stores) => acceptAttempt(stores, claim));
    return result;
  };
  return {
    run: (attempt, check) => limit(() => run(attempt, check)),
    forgive: (kind, subject) => transact(({ attempts }) => attempts.forget(toKey(kind, subject))),
  };
}

/** Counts an attempt everywhere, or throws and has counted nothing, since the transaction is rolled back. */
async function claimAttempt({ attempts }: UsersStores, counters: readonly Counter[]): Promise<Claim> {
  const delays: { kind: AttemptKind; seconds: number }[] = [];
  for (const { kind, key } of counters) {
    const seconds = await attempts.count(key, ATTEMPT_LIMITS[kind]);
    if (seconds === undefined) throw refusal(await attempts.secondsLeft(key), ATTEMPT_LIMITS[kind].firstDelayed);
    if (seconds > 0) delays.push({ kind, seconds });
  }
  return { counters, delays };
}

async function takeBack({ attempts }: UsersStores, { counters }: Claim): Promise<void> {
  for (const { key } of counters) await attempts.release(key);
}

/** A success says nothing about the other attempts of its network: only this one is taken back there. */
async function acceptAttempt({ attempts }: UsersStores, { counters }: Claim): Promise<void> {
  for (const { kind, key } of counters) await (kind === 'network' ? attempts.release(key) : attempts.forget(key));
}

const DETAILS: Readonly<Record<Attempt['kind'], string | null>> = { login: null, password: 'current password', code: 'second factor' };

async function recordFailure({ securityEvents }: UsersStores, { kind, userId, client }: Attempt, { delays }: Claim): Promise<void> {
  await securityEvents.record({ type: 'LOGIN_FAILED', userId, detail: DETAILS[kind], client });
  for (const { kind: counted, seconds } of delays)
    await securityEvents.record({ type: 'LOGIN_DELAYED', userId, detail: `${counted}: ${String(seconds)} s`, client });
}

/** The same for accounts that do not exist, and for every reason. */
function refusal(retryAfterSeconds: number, limit: number): Fault {
  return toLimitFault(`Too many attempts have failed. Retry after ${String(retryAfterSeconds)} seconds.`, { limit, retryAfterSeconds });
}
