/** Reads typed settings from the environment and reports every bad value at once. */
import { readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { z } from 'zod';

/** One reader a setting: use these, or any zod schema that starts from a string. An empty value counts as unset. */
export const setting = {
  /** A TCP port; 0 lets the system choose. */
  port: () => z.string().regex(/^\d+$/, 'must be a port number').transform(Number).pipe(z.number().max(65535, 'must be at most 65535')),
  /** A whole number from `min` to `max`. */
  integer: (min: number, max: number) =>
    z
      .string()
      .regex(/^-?\d+$/, 'must be a whole number')
      .transform(Number)
      .pipe(
        z
          .number()
          .min(min, `must be at least ${String(min)}`)
          .max(max, `must be at most ${String(max)}`),
      ),
  /** An absolute URL of one of these protocols, e.g. `http:`. */
  url: (...protocols: string[]) =>
    z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
      message: `must be a URL that starts with ${protocols.join('// or ')}//`,
    }),
  onOff: () => z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on'),
  choice: <const T extends readonly [string, ...string[]]>(...values: T) =>
    z.enum(values, { error: `must be one of ${values.join(', ')}` }),
  text: () => z.string(),
  /** A setting that names a file and gives the file's text. */
  file: () =>
    z.string().transform((path, context) => {
      try {
        return readFileSync(path, 'utf8');
      } catch {
        context.addIssue({ code: 'custom', message: 'names a file that can not be read' });
        return z.NEVER;
      }
    }),
  /** A setting that names a file, and gives what `read` makes of its text; the message of an Error thrown there is told. */
  fileOf: <T>(read: (text: string) => T) =>
    setting.file().transform((text, context) => {
      try {
        return read(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof SyntaxError ? 'is not well-formed' : (error as Error).message });
        return z.NEVER;
      }
    }),
};

/** The environment does not fit; the message has one line for each bad setting and never shows a value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(message: string) {
    super(message);
    // Node prints the stack of an error that ends the process; here it would only hide the message.
    this.stack = message;
  }
}

/**
 * Reads the settings named by the keys of `shape` from `env` (`process.env`).
 * Throws SettingsError that names every bad or missing setting at once.
 */
export function readSettings<S extends z.ZodRawShape>(shape: S, env: Record<string, string | undefined>): z.output<z.ZodObject<S>> {
  const given = Object.fromEntries(Object.keys(shape).flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  const result = z.object(shape).safeParse(given);
  if (result.success) return result.data;
  const lines = result.error.issues.map(({ path, message }) => {
    const name = String(path[0]);
    return `  ${name}: ${name in given ? message : 'is required'}`;
  });
  throw new SettingsError(`These settings are wrong:\n${lines.join('\n')}`);
}

/** What the two settings of TLS give together, undefined when neither is set. Throws SettingsError for one without the other, or files that are none of a pair. */
export function readTls({
  TLS_CERT_FILE: cert,
  TLS_KEY_FILE: key,
}: {
  TLS_CERT_FILE?: string | undefined;
  TLS_KEY_FILE?: string | undefined;
}) {
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) {
    throw new SettingsError(
      `These settings are wrong:\n  ${cert === undefined ? 'TLS_CERT_FILE' : 'TLS_KEY_FILE'}: is required beside the other of both`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch {
    throw new SettingsError('These settings are wrong:\n  TLS_CERT_FILE, TLS_KEY_FILE: must name a certificate and its key, both in PEM');
  }
  return { cert, key };
}

/** Every setting whose name begins with `prefix`, by the rest of its name in lower case; for open-ended families of settings. */
export function readFamily(prefix: string, env: Record<string, string | undefined>): Map<string, string> {
  return new Map(
    Object.entries(env).flatMap(([name, value]) =>
      name.startsWith(prefix) && value ? [[name.slice(prefix.length).toLowerCase(), value] as const] : [],
    ),
  );
}
