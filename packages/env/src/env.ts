/** Reads typed settings from the environment and reports every bad value at once. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';

/** Creates the reader of one setting. Any other zod schema that parses a string can be used as well. An empty value counts as unset. */
export const setting = {
  /** Reads a TCP port, 0 to 65535; 0 lets the system choose. */
  port: () => z.string().regex(/^\d+$/, 'must be a port number').transform(Number).pipe(z.number().max(65535, 'must be at most 65535')),
  /** Reads an integer from `min` to `max`, inclusive. */
  integer: (min: number, max: number) =>
    z
      .string()
      .regex(/^-?\d+$/, 'must be an integer')
      .transform(Number)
      .pipe(
        z
          .number()
          .min(min, `must be at least ${String(min)}`)
          .max(max, `must be at most ${String(max)}`),
      ),
  /** Reads an absolute URL with one of these protocols, such as `http:`. */
  url: (...protocols: string[]) =>
    z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      message: `must be a URL that starts with ${protocols.join('// or ')}//`,
    }),
  /** Reads `on` as true and `off` as false. */
  onOff: () => z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on'),
  /** Reads one of these values. */
  choice: <const T extends readonly [string, ...string[]]>(...values: T) =>
    z.enum(values, { error: `must be one of ${values.join(', ')}` }),
  /** Reads any string. */
  string: () => z.string(),
  /** Reads a string and returns what `parse` returns for it. The message of an Error that `parse` throws is reported. */
  parsed: <T>(parse: (value: string) => T) =>
    z.string().transform((value, context) => {
      try {
        return parse(value);
      } catch (error) {
        context.addIssue({ code: 'custom', message: (error as Error).message });
        return z.NEVER;
      }
    }),
  /** Reads the path of a file and returns the content of the file, decoded as UTF-8. */
  file: () =>
    z.string().transform((path, context) => {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        context.addIssue({ code: 'custom', message: 'names a file that cannot be read' });
        return z.NEVER;
      }
    }),
  /** Reads the path of a file that can be read, and returns the path. For a file that is watched. */
  readablePath: () => z.string().refine(isReadable, { message: 'names a file that cannot be read' }),
  /**
   * Reads the path of a file and returns what `parse` returns for the content of the file. The message of an Error that `parse` throws
   * is reported; a SyntaxError is reported without its message, which may quote the content.
   */
  parsedFile: <T>(parse: (content: string) => T) =>
    setting.file().transform((content, context) => {
      try {
        return parse(content);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof SyntaxError ? 'is not well-formed' : (error as Error).message });
        return z.NEVER;
      }
    }),
};

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Reports invalid settings. The message has one line per setting and never contains a value, which may be secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(message: string) {
    super(message);
    // Node.js prints the stack of an uncaught error; it would only hide the message.
    this.stack = message;
  }
}

/**
 * Reads the settings named by the keys of `shape` from `env` (usually `process.env`).
 * Throws a SettingsError that names every missing or invalid setting.
 */
export function readSettings<S extends z.ZodRawShape>(shape: S, env: Record<string, string | undefined>): z.output<z.ZodObject<S>> {
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return `  ${name}: ${name in given ? message : 'is required'}`;
  });
  throw new SettingsError(`Invalid settings:\n${lines.join('\n')}`);
}

/**
 * Returns the certificate and the private key of the TLS settings, or undefined when neither is set.
 * Throws a SettingsError when only one is set, or when the files are not a certificate and its private key.
 */
export function readTls({
  TLS_CERT_FILE: cert,
  TLS_KEY_FILE: key,
}: {
  TLS_CERT_FILE?: string | undefined;
  TLS_KEY_FILE?: string | undefined;
}) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    const [missing, present] = cert === undefined ? ['TLS_CERT_FILE', 'TLS_KEY_FILE'] : ['TLS_KEY_FILE', 'TLS_CERT_FILE'];
    throw new SettingsError(`Invalid settings:\n  ${missing}: is required when ${present} is set`);
  }
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new SettingsError('Invalid settings:\n  TLS_CERT_FILE, TLS_KEY_FILE: must name a certificate and its private key in PEM format');
  }
  return { cert, key };
}

/** Returns every setting whose name starts with `prefix`, keyed by the rest of the name in lower case. For sets of settings without fixed names. */
export function readFamily(prefix: string, env: Record<string, string | undefined>): Map<string, string> {
  return new Map(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value ? [[name.slice(prefix.length).toLowerCase(), value] as const] : [],
    ),
  );
}
