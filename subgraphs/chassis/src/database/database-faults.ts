/** Distinguishes errors of the database, which are 503 or 504 (spec §7.3, contract §5), from our own, which stay INTERNAL_ERROR. No I/O. */
import { type ErrorCode, type Fault, fail } from '@trestle/schema/errors';

const RETRY_AFTER_SECONDS = 1;

/** By SQLSTATE, or its first characters; the longest match counts. https://www.postgresql.org/docs/current/errcodes-appendix.html */
const BY_SQLSTATE: Readonly<Record<string, ErrorCode>> = {
  // Connection exceptions, insufficient resources, operator intervention, system errors; a standby, which refuses writes.
  '08': 'SERVICE_UNAVAILABLE',
  '25006': 'SERVICE_UNAVAILABLE',
  '53': 'SERVICE_UNAVAILABLE',
  '57P': 'SERVICE_UNAVAILABLE',
  '58': 'SERVICE_UNAVAILABLE',
  // Nothing was changed: a lock was not available in time, or a concurrent transaction came first.
  '55P03': 'SERVICE_UNAVAILABLE',
  '40001': 'SERVICE_UNAVAILABLE',
  '40P01': 'SERVICE_UNAVAILABLE',
  // Statement and transaction timeouts.
  '57014': 'UPSTREAM_TIMEOUT',
  '25P03': 'UPSTREAM_TIMEOUT',
  '25P04': 'UPSTREAM_TIMEOUT',
};

/** Codes of Node.js and Prisma. https://www.prisma.io/docs/orm/reference/error-reference */
const BY_CODE: Readonly<Record<string, ErrorCode>> = {
  ECONNREFUSED: 'SERVICE_UNAVAILABLE',
  ECONNRESET: 'SERVICE_UNAVAILABLE',
  EPIPE: 'SERVICE_UNAVAILABLE',
  ETIMEDOUT: 'SERVICE_UNAVAILABLE',
  EHOSTUNREACH: 'SERVICE_UNAVAILABLE',
  ENETUNREACH: 'SERVICE_UNAVAILABLE',
  ENOTFOUND: 'SERVICE_UNAVAILABLE',
  EAI_AGAIN: 'SERVICE_UNAVAILABLE',
  P1001: 'SERVICE_UNAVAILABLE',
  P1002: 'SERVICE_UNAVAILABLE',
  P1008: 'UPSTREAM_TIMEOUT',
  P1017: 'SERVICE_UNAVAILABLE',
  P2024: 'SERVICE_UNAVAILABLE',
  P2034: 'SERVICE_UNAVAILABLE',
  P2037: 'SERVICE_UNAVAILABLE',
};

/** Messages of pg and Prisma that come without a code. */
const BY_MESSAGE: readonly (readonly [RegExp, ErrorCode])[] = [
  [/Query read timeout|Transaction already closed|expired transaction/i, 'UPSTREAM_TIMEOUT'],
  [/timeout exceeded when trying to connect|Connection terminated|connection error and is not queryable/i, 'SERVICE_UNAVAILABLE'],
  [/Unable to start a transaction|Can't reach database|Server has closed the connection/i, 'SERVICE_UNAVAILABLE'],
];

const MESSAGES = {
  SERVICE_UNAVAILABLE: 'The database is not available. Retry after 1 second; with the same Idempotency-Key a mutation runs only once.',
  UPSTREAM_TIMEOUT: 'The database did not respond in time. Retry after 1 second; with the same Idempotency-Key a mutation runs only once.',
} as const satisfies Partial<Record<ErrorCode, string>>;

/** An error may be wrapped several times: by Prisma, and by its driver adapter. */
const MAX_DEPTH = 6;

/** Returns the error for the client, or undefined for an error that is not of the database. */
export function toDatabaseFault(error: unknown): Fault | undefined {
  for (const each of chainOf(error)) {
    const code = codeOf(each);
    if (code === 'SERVICE_UNAVAILABLE' || code === 'UPSTREAM_TIMEOUT')
      return fail(code, MESSAGES[code], { cause: error, retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
  return undefined;
}

/** Returns whether a transaction was rolled back only because of concurrent ones, so that it can be retried at once. */
export function isSerializationFailure(error: unknown): boolean {
  return chainOf(error).some((each) => codesOf(each).some((code) => ['40001', '40P01', 'P2034'].includes(code)));
}

type Wrapped = Readonly<Record<string, unknown>>;

function codeOf(error: Wrapped): ErrorCode | undefined {
  for (const code of codesOf(error)) {
    const known = BY_CODE[code] ?? (/^[0-9A-Z]{5}$/.test(code) ? bySqlState(code) : undefined);
    if (known) return known;
  }
  const { message } = error;
  return typeof message === 'string' ? BY_MESSAGE.find(([pattern]) => pattern.test(message))?.[1] : undefined;
}

function bySqlState(code: string): ErrorCode | undefined {
  return BY_SQLSTATE[code] ?? BY_SQLSTATE[code.slice(0, 3)] ?? BY_SQLSTATE[code.slice(0, 2)];
}

function codesOf({ code, originalCode }: Wrapped): string[] {
  return [originalCode, code].filter((each) => typeof each === 'string');
}

/** The error itself and what it wraps, from the outside in. */
function chainOf(error: unknown): Wrapped[] {
  const chain: Wrapped[] = [];
  const visit = (each: unknown) => {
    if (typeof each !== 'object' || each === null || chain.length >= MAX_DEPTH) return;
    const wrapped = each as Wrapped;
    chain.push(wrapped);
    visit(wrapped['cause']);
    visit(wrapped['meta']);
    visit(wrapped['driverAdapterError']);
  };
  visit(error);
  return chain;
}
