/** Writes masked JSON lines. The fields are a closed set, so that bodies, tokens and e-mail addresses can't be passed (spec §5.10). */
import { pino } from 'pino';
import { createBatch } from './batch.ts';
import { cut, mask } from './mask.ts';

export { mask } from './mask.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** All that a line may tell besides its message. Add a field only if it can never hold what a person or a client wrote. */
export interface LogFields {
  readonly requestId?: string;
  readonly method?: string;
  /** The template of the path, `/users/{id}`, never the path as sent. */
  readonly route?: string;
  readonly operation?: string;
  readonly status?: number;
  readonly code?: string;
  readonly durationMs?: number;
  readonly subgraph?: string;
  readonly port?: number;
  readonly count?: number;
  readonly signal?: string;
  readonly hash?: string;
  readonly error?: unknown;
}

/** Largest size of one field, of the message, of an error's message and of its stack, in bytes of UTF-8; more is cut. */
const MAX_FIELD_BYTES = 256;
const MAX_MESSAGE_BYTES = 2 * 1024;
const MAX_STACK_BYTES = 6 * 1024;

export interface Log extends Record<Exclude<LogLevel, 'silent'>, (message: string, fields?: LogFields) => void> {
  /** One line for a request that was answered. These are written together, up to a quarter of a second late; all others at once. */
  access(fields: Omit<LogFields, 'error'>): void;
}

/** Makes the log of a process; lines go to standard output. */
export function createLog({ service, level }: { service: string; level: LogLevel }): Log {
  const batch = createBatch();
  const out = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    batch,
  );
  const isInfo = out.isLevelEnabled('info');
  const own = `"service":${JSON.stringify(service)}`;
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
      batch.flush();
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    access(fields) {
      if (!isInfo) return;
      // Written by hand: it is the one line that every request pays for.
      let line = `{"level":"info","time":"${now()}",${own}`;
      for (const name in fields) line += `,"${name}":${JSON.stringify(bound(fields[name as keyof typeof fields]))}`;
      batch.write(`${line},"msg":"request"}\n`);
    },
  };
}

function bound<T>(value: T): T | string {
  return typeof value === 'string' ? cut(value, MAX_FIELD_BYTES) : value;
}

/** Times as text, made once for each millisecond. */
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

/** Describes an error for the log: masked and cut text, its stack, and its causes down to three levels. */
export function describeError(error: unknown, depth = 3): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  return {
    type: cut(error.name, MAX_FIELD_BYTES),
    message: mask(error.message, MAX_MESSAGE_BYTES),
    ...(error.stack === undefined ? {} : { stack: mask(error.stack, MAX_STACK_BYTES) }),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: describeError(error.cause, depth - 1) }),
  };
}
