/** The credentials of AWS that requests are signed with: found by AWS's SDK, kept, and renewed before they expire. */
import type { Log } from '@trestle/log';
import type { Signing } from './signing-settings.ts';

/** Credentials of AWS. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  /** Undefined for those that do not expire. */
  readonly expiration?: Date;
}

/** Finds credentials: from the environment, from files, or by requests. */
export type FindCredentials = () => Promise<Credentials>;

/** Returns credentials that are valid. Rejects with CredentialsError when there are none. */
export type ReadCredentials = () => Promise<Credentials>;

/** Why there are no credentials. The message is for the log, and contains none. */
export class CredentialsError extends Error {}

/** Before they expire; and how long those that do not expire are used, because files of an operator may change. */
const RENEWAL_MS = 300_000;
/** After an attempt that has failed, during which requests fail at once if nothing is valid. */
const PAUSE_MS = 2000;
/** The time limit of one attempt: the SDK has none for roles. */
const LIMIT_MS = 10_000;
const MAX_MESSAGE = 300;
const EXTERNAL_COMMAND = /Command failed.*/s;

export interface CredentialsOptions {
  readonly log: Pick<Log, 'warn'>;
  /** The time of the day, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

/**
 * Keeps what `find` returns. While valid credentials are renewed, they are still used: only the first request, and those after credentials have expired,
 * wait.
 */
export function keepCredentials(find: FindCredentials, { log, now = Date.now }: CredentialsOptions): ReadCredentials {
  let current: Credentials | undefined;
  let failure: CredentialsError | undefined;
  /** When `find` is called next, while nothing has expired. */
  let nextAt = -Infinity;
  /** How long after the last attempt that is. When more is left, the clock has gone back, and it is called at once. */
  let pauseMs = 0;
  let pending: Promise<Credentials> | undefined;
  const renew = async () => {
    try {
      const found = await limitTime(find());
      const at = now();
      if (isExpired(found, at)) throw new Error('The credentials that were found have expired');
      // Those that are short-lived are renewed at half of their time.
      const leftMs = found.expiration ? found.expiration.getTime() - at : 2 * RENEWAL_MS;
      pauseMs = Math.max(leftMs - RENEWAL_MS, Math.min(leftMs / 2, RENEWAL_MS));
      nextAt = at + pauseMs;
      return (current = found);
    } catch (error) {
      pauseMs = PAUSE_MS;
      nextAt = now() + pauseMs;
      failure = new CredentialsError(describe(error));
      log.warn('AWS credentials to sign requests with could not be read', { error: failure });
      throw failure;
    } finally {
      pending = undefined;
    }
  };
  return async () => {
    const at = now();
    const isValid = current !== undefined && !isExpired(current, at);
    const isDue = at >= nextAt || nextAt - at > pauseMs;
    if (isDue || (!isValid && failure === undefined)) pending ??= renew();
    if (isValid) pending?.catch(() => undefined);
    else if (!pending && failure) throw failure;
    return isValid ? (current as Credentials) : (pending as Promise<Credentials>);
  };
}

function isExpired({ expiration }: Credentials, at: number): boolean {
  return expiration !== undefined && expiration.getTime() <= at;
}

async function limitTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`The credentials were not found within ${String(LIMIT_MS)} ms`));
    }, LIMIT_MS).unref();
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}

/** The command line of an external process may hold a secret. */
function describe(error: unknown): string {
  const { name, message } = error as Error;
  return `${name}: ${message.replace(EXTERNAL_COMMAND, 'the command of `credential_process` has failed').slice(0, MAX_MESSAGE)}`;
}

/** The SDK's own messages, but for warnings. */
const SILENT = { trace: () => undefined, debug: () => undefined, info: () => undefined, error: () => undefined };

/** Returns what finds credentials by the default chain of AWS's SDKs, or by a profile, and then assumes a role where one is set. */
export function createFinder({ profile, region, roleArn, externalId, sessionName }: Signing, log: Pick<Log, 'warn'>): FindCredentials {
  const logger = {
    ...SILENT,
    warn: (message: string) => {
      log.warn(message);
    },
  };
  let provider: ((options: { forceRefresh: boolean }) => Promise<Credentials>) | undefined;
  return async () => {
    provider ??= await load();
    return provider({ forceRefresh: true });
  };
  async function load() {
    const { fromNodeProviderChain, fromTemporaryCredentials } = await import('@aws-sdk/credential-providers');
    const chain = fromNodeProviderChain({ ignoreCache: true, logger, ...(profile !== undefined && { profile }) });
    if (roleArn === undefined) return chain;
    return fromTemporaryCredentials({
      masterCredentials: () => chain({ forceRefresh: true }),
      params: { RoleArn: roleArn, RoleSessionName: sessionName, ...(externalId !== undefined && { ExternalId: externalId }) },
      clientConfig: { region, maxAttempts: 2, requestHandler: { connectionTimeout: 2000, requestTimeout: 4000 } },
    });
  }
}
