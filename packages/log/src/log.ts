/** Writes masked JSON lines. The set of fields is fixed, so that bodies, tokens and e-mail addresses cannot be logged (spec §5.10). */
import { pino } from 'pino';
import { createBatch } from './batch.ts';
import { cut, mask } from './mask.ts';

export { mask } from './mask.ts';

/** Lists the log levels, from the most to the least verbose. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** Names one log level. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Holds the fields of a line besides its message. Add a field only if it can never contain input of a client. */
export interface LogFields {
  readonly requestId?: string;
  readonly method?: string;
  /** Path template, such as `/users/{id}`; never the path as sent. */
  readonly route?: string;
  readonly operation?: string;
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

/** Creates the log of a process, which writes to standard output. */
export function createLog({ service, level }: { service: string; level: LogLevel }): ProcessLog {
  const batch = createBatch();
  let sink: ((line: string) => void) | undefined;
  const put = (line: string) => {
    batch.write(line);
    sink?.(line);
  };
  const out = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: put },
  );
  let isInfo = out.isLevelEnabled('info');
  const serviceField = `"service":${JSON.stringify(service)}`;
  const now = createClock();
  process.on('exit', () => {
    batch.flush();
  });
  const write =
    (at: Exclude<LogLevel, 'silent'>) =>
    (message: string, fields: LogFields = {}) => {
      const { error, ...rest } = fields;
      const bounded = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, bound(value)]));
      out[at](error === undefined ? bounded : { ...bounded, error: describeError(error) }, mask(message, MAX_MESSAGE_BYTES));
      batch.flushSoon();
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    access(fields, fixed = '') {
      // Serialized without pino, because this line is on the path of every request.
      if (isInfo) put(`{"level":"info","time":"${now()}",${serviceField}${fixed}${toMembers(fields)},"msg":"request"}\n`);
    },
    setLevel(next) {
      out.level = next;
      isInfo = out.isLevelEnabled('info');
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
  for (const name in fields) members += `,"${name}":${toJson(fields[name as keyof typeof fields])}`;
  return members;
}

function toJson(value: unknown): string {
  if (typeof value === 'string' && PLAIN.test(value)) return `"${value}"`;
  return Number.isInteger(value) ? String(value) : JSON.stringify(bound(value));
}

function bound<T>(value: T): T | string {
  return typeof value === 'string' ? cut(value, MAX_FIELD_BYTES) : value;
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

interface ErrorDescription {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: ErrorDescription;
}

/** Returns the loggable description of an error: type, masked message and stack, and the causes down to `depth` levels. */
export function describeError(error: unknown, depth = 3): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  return {
    type: cut(error.name, MAX_FIELD_BYTES),
    message: mask(error.message, MAX_MESSAGE_BYTES),
    ...(error.stack === undefined ? {} : { stack: mask(error.stack, MAX_STACK_BYTES) }),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: describeError(error.cause, depth - 1) }),
  };
}
