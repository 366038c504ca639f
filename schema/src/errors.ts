/** The error codes that clients rely on, with their HTTP status (contract §5), and the one way to fail. */

interface ErrorRow {
  readonly status: number;
  readonly meaning: string;
}

/** Every code, its HTTP status and what it tells the client. A test compares it with the table in docs/rest.md. */
export const ERRORS = {
  VALIDATION_ERROR: { status: 400, meaning: 'The request is malformed or a field failed validation; `details` lists each.' },
  UNAUTHORIZED: { status: 401, meaning: 'A credential is missing or invalid.' },
  FORBIDDEN: { status: 403, meaning: 'The caller is known but may not do this.' },
  NOT_FOUND: { status: 404, meaning: 'There is no such thing, or none that the caller may know of.' },
  METHOD_NOT_ALLOWED: { status: 405, meaning: 'The path exists, the method does not; see `Allow`.' },
  NOT_ACCEPTABLE: { status: 406, meaning: 'No representation matches `Accept`.' },
  REQUEST_TIMEOUT: { status: 408, meaning: 'The client was too slow.' },
  CONFLICT: { status: 409, meaning: 'It is a duplicate, or it collides with another change.' },
  GONE: { status: 410, meaning: 'It existed and was deleted for good.' },
  PRECONDITION_FAILED: { status: 412, meaning: 'The resource has another version than the caller expects.' },
  PAYLOAD_TOO_LARGE: { status: 413, meaning: 'The body is larger than allowed.' },
  URI_TOO_LONG: { status: 414, meaning: 'The URL is longer than allowed.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, meaning: 'The body is in a format that is not understood.' },
  RANGE_NOT_SATISFIABLE: { status: 416, meaning: 'The range lies outside of the representation.' },
  BUSINESS_RULE_VIOLATION: { status: 422, meaning: 'The request is well-formed but a rule of the domain forbids it.' },
  PRECONDITION_REQUIRED: { status: 428, meaning: 'The request must be conditional.' },
  RATE_LIMIT_EXCEEDED: { status: 429, meaning: 'Too many requests; see `Retry-After`.' },
  REQUEST_HEADER_FIELDS_TOO_LARGE: { status: 431, meaning: 'The headers are larger than allowed.' },
  INTERNAL_ERROR: { status: 500, meaning: 'Something broke on our side; quote the request id.' },
  NOT_IMPLEMENTED: { status: 501, meaning: 'The server does not support this method.' },
  UPSTREAM_ERROR: { status: 502, meaning: 'A service behind this one answered badly or not at all.' },
  SERVICE_UNAVAILABLE: { status: 503, meaning: 'Overloaded or in maintenance; see `Retry-After`.' },
  UPSTREAM_TIMEOUT: { status: 504, meaning: 'A service behind this one took too long.' },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

/** One faulty field: its name (a dotted path for nested input) and what is wrong with it. */
export interface FieldFault {
  readonly field: string;
  readonly message: string;
}

/** A failure that the client is told of: its message is written for the client, its cause is for the log only. */
export class Fault extends Error {
  override readonly name = 'Fault';
  readonly code: ErrorCode;
  readonly details: readonly FieldFault[] | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: ErrorCode, message: string, { details, cause, retryAfterSeconds }: FaultOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export interface FaultOptions {
  readonly details?: readonly FieldFault[];
  readonly cause?: unknown;
  /** When it is worth another try (`Retry-After`, spec §7.3). */
  readonly retryAfterSeconds?: number;
}

/**
 * Makes the failure that the client is told of: `throw fail('NOT_FOUND', 'No such order')`.
 * `message` must hold nothing that is not for the client; what is for the log goes into `cause`.
 */
export function fail(code: ErrorCode, message: string, options?: FaultOptions): Fault {
  return new Fault(code, message, options);
}

/** Throws VALIDATION_ERROR with all faults at once (spec §7.1); does nothing when there are none. */
export function rejectFaults(faults: readonly FieldFault[]): void {
  if (faults.length > 0) throw fail('VALIDATION_ERROR', 'The request is not valid', { details: faults });
}

/** Whether `value` is one of the codes of contract §5. */
export function isErrorCode(value: unknown): value is ErrorCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value);
}
