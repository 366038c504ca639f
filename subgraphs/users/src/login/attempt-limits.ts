/** How many attempts may fail, how long the next one must wait, and under which key they are counted (ADR 20). No I/O. */
import { createHmac, hkdfSync } from 'node:crypto';

/** What attempts are counted by. Each kind has its own count, so that one of them never resets another. */
export type AttemptKind =
  /** Logins with a password, by e-mail address. */
  | 'login'
  /** The current password that a change demands, by account: attempts at the login cannot delay its owner, who is logged in. */
  | 'password'
  /** Codes of a second factor, by account: a correct password does not reset them. */
  | 'code'
  /** All of them, by the network of the client. */
  | 'network'
  /** User codes of devices, by the network of the client (RFC 8628 §5.1). */
  | 'userCode'
  /** Requests for a password reset, by the id or e-mail address that they name. */
  | 'reset'
  /** The mails that follow from them, by account. */
  | 'resetMail'
  /** These requests, by the network of the client. */
  | 'resetNetwork';

/** Limits the attempts of one kind. All requests for a password reset count as failed. */
export interface AttemptLimit {
  /** This failure causes the first delay. Each further one doubles it. */
  readonly firstDelayed: number;
  readonly firstDelaySeconds: number;
  readonly longestDelaySeconds: number;
  /** How long after the last attempt the failures are forgotten. */
  readonly memorySeconds: number;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const OF_ACCOUNT: AttemptLimit = { firstDelayed: 10, firstDelaySeconds: 1, longestDelaySeconds: 15 * MINUTE, memorySeconds: 24 * HOUR };
/** Three mails at once, then one after 1, 2, 4 … minutes, and at last one in 2 hours. */
const OF_RESETS: AttemptLimit = { firstDelayed: 3, firstDelaySeconds: MINUTE, longestDelaySeconds: 2 * HOUR, memorySeconds: 24 * HOUR };

/** The limits. That of networks is wider and shorter, because many people may share one. */
export const ATTEMPT_LIMITS: Readonly<Record<AttemptKind, AttemptLimit>> = {
  login: OF_ACCOUNT,
  password: OF_ACCOUNT,
  code: OF_ACCOUNT,
  network: { firstDelayed: 50, firstDelaySeconds: 1, longestDelaySeconds: MINUTE, memorySeconds: HOUR },
  // Of 25 billion codes, ten can be tried in ten minutes.
  userCode: { firstDelayed: 10, firstDelaySeconds: 10 * MINUTE, longestDelaySeconds: 10 * MINUTE, memorySeconds: 10 * MINUTE },
  reset: OF_RESETS,
  resetMail: OF_RESETS,
  resetNetwork: { ...OF_RESETS, firstDelayed: 30, longestDelaySeconds: 10 * MINUTE, memorySeconds: HOUR },
};

/** Returns the key under which attempts are counted. */
export type ToAttemptKey = (kind: AttemptKind, subject: string) => Buffer;

/** Creates the function that makes keys: without the secret, nobody can tell which e-mail address or network a key stands for. */
export function createAttemptKeys(secret: string): ToAttemptKey {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'trestle failed attempts', 32));
  return (kind, subject) => createHmac('sha256', key).update(`${kind} ${subject}`).digest();
}
