/** Writes masked JSON lines. The set of fields is fixed, so that bodies, tokens and e-mail addresses cannot be logged (spec §5.10). */
import { createBatch } from './batch.ts';
import { cut, mask } from './mask.ts';
import { toText } from './text-line.ts';

export { mask } from './mask.ts';

/** Lists the log levels, from the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** Names one log level. */
export type LogLevel = (typeof LOG_LEVELS)[number];
/** How lines are written: as JSON, or for people at a terminal. */
export const LOG_FORMATS = ['json', 'text'] as const;
/** Names one format. */
export type LogFormat = (typeof LOG_FORMATS)[number];
const INFO = LOG_LEVELS.indexOf('info');

/** Holds the fields of a line besides its message. Add a field only if it can never contain input of a client, or if the operator has to ask for it. */
export interface LogFields {
  readonly requestId?: string;
  readonly method?: string;
  /** Path template, such as `/users/{id}`; never the path as sent. */
  readonly route?: string;
  readonly operation?: string;
  /** Headers that the operator has chosen, by names in lower case. Their values are masked. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly code?: string;
  readonly durationMs?: number;
  readonly subgraph?: string;
  /** The name of a graph, when a process serves several. */
  readonly graph?: string;
  /** The name of an extension of the gateway, and that of its hook. */
  readonly extension?: string;
  readonly hook?: string;
  readonly port?: number;
  /** The number of a worker, when several processes serve a port. */
  readonly worker?: number;
  readonly count?: number;
  /** Coordinates of the schema, such as `User.email Order.total`. */
  readonly coordinates?: string;
  /** The limits that an operation exceeds, each with its value: `maxDepth=14 maxAliases=31`. */
  readonly limits?: string;
  readonly signal?: string;
  readonly hash?: string;
  /** The ids of the request's span, when it is exported. */
  readonly traceId?: string;
  readonly spanId?: string;
  readonly error?: unknown;
}

/** Maximum sizes in bytes of UTF-8: of a field, of a message, of a stack. Longer values are cut. */
const MAX_FIELD_BYTES = 256;
const MAX_MESSAGE_BYTES = 2 * 1024;
const MAX_STACK_BYTES = 6 * 1024;

/** Writes the log of a process. Each method writes one line; its message is masked. */
export interface Log extends Record<Exclude<LogLevel, 'silent'>, (message: string, fields?: LogFields) => void> {
  /**
   * Writes one line for a completed request, at most 250 ms late; all other lines are written at most 20 ms late. `fixed` are the fields of every line,
   * in JSON, each after a comma: `withFields` serializes them once, because adding them to an object takes a quarter of a request.
   */
  access(fields: Omit<LogFields, 'error'>, fixed?: string): void;
}

/** Writes the log of a process whose level can change. */
export interface ProcessLog extends Log {
  /** Sets the lowest level that is written from now on. */
  setLevel(level: LogLevel): void;
  /** Sets the function that gets each line too, as it is written: masked, in JSON. It must not throw or wait. */
  setSink(sink: ((line: string) => void) | undefined): void;
}

/** The log of a process: `format` is JSON by default. */
export interface LogOptions {
  readonly service: string;
  readonly level: LogLevel;
  readonly format?: LogFormat;
}

/** Creates the log of a process, which writes to standard output. */
export function createLog({ service, level, format = 'json' }: LogOptions): ProcessLog {
  const batch = createBatch({ render: format === 'text' ? toText : undefined });
  let sink: ((line: string) => void) | undefined;
  let lowest = LOG_LEVELS.indexOf(level);
  const now = createClock();
  const serviceField = `"service":${JSON.stringify(service)}`;
  process.on('exit', () => {
    batch.flush();
  });
  const put = (at: string, members: string, message: string) => {
    const line = `{"level":"${at}","time":"${now()}",${serviceField}${members},"msg":${message}}\n`;
    batch.write(line);
    sink?.(line);
  };
  const write = (at: Exclude<LogLevel, 'silent'>) => {
    const rank = LOG_LEVELS.indexOf(at);
    return (message: string, fields: LogFields = {}) => {
      if (rank < lowest) return;
      put(at, toMembers(fields), JSON.stringify(mask(message, MAX_MESSAGE_BYTES)));
      batch.flushSoon();
    };
  };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    access(fields, fixed = '') {
      if (lowest <= INFO) put('info', fixed + toMembers(fields), '"request"');
    },
    setLevel(next) {
      lowest = LOG_LEVELS.indexOf(next);
    },
    setSink(next) {
      sink = next;
    },
  };
}

/** Returns a log that adds these fields to each line. An access line must not have a field of the same name. */
export function withFields(log: Log, fields: Omit<LogFields, 'error'>): Log {
  const members = toMembers(fields);
  const add =
    (write: (message: string, given?: LogFields) => void) =>
    (message: string, given: LogFields = {}) => {
      write(message, { ...fields, ...given });
    };
  return {
    debug: add(log.debug),
    info: add(log.info),
    warn: add(log.warn),
    error: add(log.error),
    access: (given, fixed = '') => {
      log.access(given, members + fixed);
    },
  };
}

/** Characters that JSON does not escape, and a length that needs no cut. Nearly all values are numbers, or strings of these. */
const PLAIN = /^[\w/.-]{0,64}$/;

/** Returns the members of a JSON object, each after a comma. */
function toMembers(fields: LogFields): string {
  let members = '';
  for (const name in fields) {
    const value = fields[name as keyof LogFields];
    if (value !== undefined) members += `,"${name}":${name === 'error' ? JSON.stringify(describeError(value)) : toJson(value)}`;
  }
  return members;
}

function toJson(value: unknown): string {
  if (typeof value === 'string') return PLAIN.test(value) ? `"${value}"` : JSON.stringify(cut(value, MAX_FIELD_BYTES));
  return Number.isInteger(value) ? String(value) : JSON.stringify(value);
}

/** Returns a function that formats the current time in ISO 8601, at most once per millisecond. */
function createClock(): () => string {
  let last = 0;
  let text = '';
  return () => {
    const now = Date.now();
    if (now !== last) {
      last = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}

/** An error that another process reported. It has no stack: that of this process says nothing about it, and takes more time than the rest of a line. */
export class ReportedError {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** Returns the loggable description of an error: type, masked message and stack, and the causes down to `depth` levels. */
export function describeError(error: unknown, depth = 3): ErrorDescription {
  if (error instanceof ReportedError) return { type: 'Error', message: mask(error.message, MAX_MESSAGE_BYTES) };
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  const cause = error.cause ?? firstError(error);
  return {
    type: cut(stringOr('Error', error.name), MAX_FIELD_BYTES),
    message: mask(stringOr('not a string', error.message), MAX_MESSAGE_BYTES),
    ...(typeof error.stack === 'string' ? { stack: mask(error.stack, MAX_STACK_BYTES) } : {}),
    ...(cause === undefined || depth === 0 ? {} : { cause: describeError(cause, depth - 1) }),
  };
}

/** Errors of libraries and extensions may have any value as their name or message. */
function stringOr(otherwise: string, value: unknown): string {
  return typeof value === 'string' ? value : otherwise;
}

/** Returns the first error of an AggregateError, whose own message is mostly empty, as for a refused connection to `localhost`. */
function firstError(error: Error): unknown {
  return error instanceof AggregateError ? (error.errors as readonly unknown[] | undefined)?.[0] : undefined;
}
