/** Writes masked JSON lines. The fields are a closed set, so that bodies, tokens and e-mail addresses can't be passed (spec §5.10). */
import { pino } from 'pino';
import { createBatch } from './batch.ts';

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
      out[at](error === undefined ? rest : { ...rest, error: describeError(error) }, mask(message));
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
      for (const name in fields) line += `,"${name}":${JSON.stringify(fields[name as keyof typeof fields])}`;
      batch.write(`${line},"msg":"request"}\n`);
    },
  };
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

/** What a log may say of an error: masked text, where it came from, and its causes down to three levels. */
export function describeError(error: unknown, depth = 3): ErrorDescription {
  if (!(error instanceof Error)) return { type: typeof error, message: 'not an Error' };
  return {
    type: error.name,
    message: mask(error.message),
    ...(error.stack === undefined ? {} : { stack: mask(error.stack) }),
    ...(error.cause === undefined || depth === 0 ? {} : { cause: describeError(error.cause, depth - 1) }),
  };
}

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]*/g, '[token]'],
  [/[^\s"'<>@:/]+@[\w-]+(?:\.[\w-]+)+/g, '[email]'],
  [/(\w+:\/\/[^\s:/@]+):[^\s@/]+@/g, '$1:[password]@'],
  [/\$argon2\w+\$\S+/g, '[hash]'],
];

/** Takes tokens, e-mail addresses and passwords in URLs out of a text. */
export function mask(text: string): string {
  return SECRETS.reduce((masked, [pattern, name]) => masked.replace(pattern, name), text);
}
