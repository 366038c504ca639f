/** The error codes of the public API with their HTTP status (contract §5), and the error that carries one. No I/O. */

interface ErrorDefinition {
  readonly status: number;
  readonly meaning: string;
}

/** Defines the HTTP status and the meaning of every error code. A test compares it with the table in docs/rest.md. */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The request is malformed or a value is invalid. `details` lists every invalid field.' },
  UNAUTHORIZED: { status: 401, meaning: 'The request has no valid credential.' },
  FORBIDDEN: { status: 403, meaning: 'The caller is not allowed to perform the request.' },
  NOT_FOUND: { status: 404, meaning: 'The resource does not exist, or the caller may not see it.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The resource does not support the method. `Allow` lists the supported methods.' },
  NOT_ACCEPTABLE: { status: 406, meaning: 'No available representation matches `Accept`.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The request was not received completely in time.' },
  CONFLICT: { status: 409, meaning: 'The request conflicts with an existing resource or with a concurrent request.' },
  GONE: { status: 410, meaning: 'The resource existed and was removed permanently.' },
  PRECONDITION_FAILED: { status: 412, meaning: 'The current version of the resource does not meet the conditions of the request.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The request body exceeds the size limit.' },
  URI_TOO_LONG: { status: 414, meaning: 'The URL exceeds the length limit.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The format of the request body is not supported.' },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: 'The requested range is outside the representation.' },
  BUSINESS_RULE_VIOLATION: { status: 422, meaning: 'The request is well-formed, but a business rule does not allow it.' },
  PRECONDITION_REQUIRED: { status: 428, meaning: 'The request must be conditional.' },
  RATE_LIMIT_EXCEEDED: { status: 429, meaning: 'The client sent too many requests. Retry after the time in `Retry-After`.' },
  REQUEST_HEADER_FIELDS_TOO_LARGE: { status: 431, meaning: 'The request headers exceed the size limit.' },
  INTERNAL_ERROR: { status: 500, meaning: 'An unexpected error occurred on the server. Include the request id in a report.' },
  NOT_IMPLEMENTED: { status: 501, meaning: 'The server does not support the request method.' },
  UPSTREAM_ERROR: { status: 502, meaning: 'An upstream service returned an invalid response or could not be reached.' },
  SERVICE_UNAVAILABLE: { status: 503, meaning: 'The server is overloaded or in maintenance. Retry after the time in `Retry-After`.' },
  UPSTREAM_TIMEOUT: { status: 504, meaning: 'An upstream service did not respond in time.' },
} as const satisfies Record<string, ErrorDefinition>;

/** Names one error code of contract §5. */
export type ErrorCode = keyof typeof ERRORS;

/** Describes one invalid field: its name (a dotted path for nested input) and what is wrong with it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** Reports a failure to the client. `message` and `details` are sent to the client; `cause` is only logged. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: ErrorCode;
  readonly details: readonly FieldFault[] | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly isInvalidCredential: boolean;
  readonly requiredScopes: readonly string[] | undefined;
  readonly rateLimit: RateLimitStatus | undefined;
  readonly secondFactor: SecondFactorDemand | undefined;

  constructor(code: ErrorCode, message: string, options: FaultOptions = {}) {
    const { details, cause, retryAfterSeconds, isInvalidCredential = false, requiredScopes, rateLimit, secondFactor } = options;
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
    this.isInvalidCredential = isInvalidCredential;
    this.requiredScopes = requiredScopes;
    this.rateLimit = rateLimit;
    this.secondFactor = secondFactor;
  }
}

/** What is left of a rate limit, as RATE_LIMIT_EXCEEDED reports it (spec §7.1). */
export interface RateLimitStatus {
  /** Requests per minute. */
  readonly limit: number;
  readonly remaining: number;
  /** When the request could be accepted, in ISO 8601 and UTC. */
  readonly resetAt: string;
}

/** What a login of an account with a second factor needs besides the password. */
export interface SecondFactorDemand {
  /** Identifies the login that is to be completed. */
  readonly challenge: string;
  /** Lifetime of the challenge, in seconds. */
  readonly expiresIn: number;
  /** What the account has: `totp`, `passkey`, `recovery_code`. */
  readonly methods: readonly string[];
  /** For an account with passkeys: the argument of `PublicKeyCredential.parseRequestOptionsFromJSON()` (WebAuthn). */
  readonly passkey?: object;
}

/** Sets the optional parts of a Fault. */
export interface FaultOptions {
  /** Every invalid field; sent to the client. */
  readonly details?: readonly FieldFault[];
  /** The underlying error; only logged. */
  readonly cause?: unknown;
  /** Seconds after which the client may retry (`Retry-After`, spec §7.3). */
  readonly retryAfterSeconds?: number;
  /** For UNAUTHORIZED: whether the request has a credential that is invalid, rather than none (`error="invalid_token"`, RFC 6750 §3.1). */
  readonly isInvalidCredential?: boolean;
  /** For FORBIDDEN: the scopes that the credential lacks (`error="insufficient_scope"`, RFC 6750 §3.1); sent to the client. */
  readonly requiredScopes?: readonly string[];
  /** For a request that a rate limit refused: sent to the client beside `retryAfter`. */
  readonly rateLimit?: RateLimitStatus;
  /** For UNAUTHORIZED after a correct password: what completes the login; sent to the client. */
  readonly secondFactor?: SecondFactorDemand;
}

/**
 * Creates a Fault, to be thrown: `throw fail('NOT_FOUND', 'Order ord_1 does not exist')`.
 * `message` is sent to the client and must not contain internal details; those belong in `cause`, which is only logged.
 */
export function fail(code: ErrorCode, message: string, options?: FaultOptions): Fault {
  return new Fault(code, message, options);
}

/** What clients read of an error that was not written for them. The cause is in the log, under the request id. */
export const INTERNAL_ERROR_MESSAGE = 'Something went wrong on our side';

/** Returns a Fault as it is, and INTERNAL_ERROR with the error as its cause for every other error. */
export function toFault(error: unknown): Fault {
  return error instanceof Fault ? error : fail('INTERNAL_ERROR', INTERNAL_ERROR_MESSAGE, { cause: error });
}

/** Throws one VALIDATION_ERROR with all faults as its details (spec §7.1). Does nothing when `faults` is empty. */
export function rejectFaults(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw fail('VALIDATION_ERROR', 'The request is not valid', { details: faults });
}

/** Returns whether `value` is an error code of contract §5. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}
