/** Reads typed settings from the environment and reports every bad value at once. */
import { X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import * as z from 'zod';

/**
 * Describes what a setting accepts, for schemas and documents. A `path` names a file; a `list` holds strings, `integers` is a list of them, a `map` holds
 * strings by names.
 */
export type SettingForm =
  | { readonly kind: 'integer' | 'number' | 'integers'; readonly minimum: number; readonly maximum: number }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'url'; readonly protocols: readonly string[] }
  | { readonly kind: 'boolean' | 'string' | 'path' | 'list' | 'map' };

const forms = z.registry<SettingForm>();

/** Creates the reader of one setting. Any other zod schema that parses a string can be used as well. An empty value counts as unset. */
export const setting = {
  /** Reads a TCP port, 0 to 65535; 0 lets the system choose. */
  port: () =>
    z
      .string()
      .regex(/^\d+$/, 'must be a port number')
      .transform(Number)
      .pipe(z.number().max(65535, 'must be at most 65535'))
      .register(forms, { kind: 'integer', minimum: 0, maximum: 65535 }),
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
      )
      .register(forms, { kind: 'integer', minimum: min, maximum: max }),
  /** Reads integers from `min` to `max`, inclusive, that are separated by commas or white space. */
  integers: (min: number, max: number) =>
    setting
      .parsed((text) => {
        const items = text.split(/[\s,]+/).filter((item) => item !== '');
        if (items.some((item) => !/^\d{1,15}$/.test(item) || Number(item) < min || Number(item) > max))
          throw new Error(`must be integers from ${String(min)} to ${String(max)}`);
        return items.map(Number);
      })
      .register(forms, { kind: 'integers', minimum: min, maximum: max }),
  /** Reads a decimal number from `min` to `max`, inclusive, such as `0.25`. */
  number: (min: number, max: number) =>
    z
      .string()
      .regex(/^(?:\d+|\d*\.\d+)$/, 'must be a number')
      .transform(Number)
      .pipe(
        z
          .number()
          .min(min, `must be at least ${String(min)}`)
          .max(max, `must be at most ${String(max)}`),
      )
      .register(forms, { kind: 'number', minimum: min, maximum: max }),
  /** Reads an absolute URL with one of these protocols, such as `http:`. With `unix:` it has no host. */
  url: (...protocols: string[]) =>
    z
      .string()
      .refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol) && !/^unix:(?!\/\/\/)/i.test(value), {
        message: `must be a URL that starts with ${protocols.join('// or ')}//${protocols.at(-1) === 'unix:' ? '/' : ''}`,
      })
      .register(forms, { kind: 'url', protocols }),
  /** Reads `on` as true and `off` as false. */
  onOff: () =>
    z
      .enum(['on', 'off'], { error: 'must be on or off' })
      .transform((value) => value === 'on')
      .register(forms, { kind: 'boolean' }),
  /** Reads one of these values. */
  choice: <const T extends readonly [string, ...string[]]>(...values: T) =>
    z.enum(values, { error: `must be one of ${values.join(', ')}` }).register(forms, { kind: 'choice', values }),
  /** Reads any string. */
  string: () => z.string().register(forms, { kind: 'string' }),
  /** Reads the path of a file, which need not exist. */
  path: () => z.string().register(forms, { kind: 'path' }),
  /**
   * Reads strings that are separated by commas or white space. The first item that `check` returns false for is reported with `message`, which may
   * be made of the item.
   */
  list: (check: (item: string) => boolean = () => true, message: string | ((item: string) => string) = 'has an invalid item') =>
    setting.parsed((text) => {
      const items = text.split(/[\s,]+/).filter((item) => item !== '');
      const wrong = items.find((item) => !check(item));
      if (wrong !== undefined) throw new Error(typeof message === 'string' ? message : message(wrong));
      return items;
    }, 'list'),
  /**
   * Reads a string, with the form `list` a list, or with `map` percent-encoded pairs `name=value`. Returns what `parse` returns for it, and reports the
   * message of an Error that `parse` throws.
   */
  parsed: <T>(parse: (value: string) => T, kind: 'string' | 'list' | 'map' = 'string') =>
    z
      .string()
      .transform((value, context) => {
        try {
          return parse(value);
        } catch (error) {
          context.addIssue({ code: 'custom', message: (error as Error).message });
          return z.NEVER;
        }
      })
      .register(forms, { kind }),
  /** Reads the path of a file and returns the content of the file, decoded as UTF-8. */
  file: () =>
    z
      .string()
      .transform((path, context) => {
        try {
          return readFileSync(path, 'utf8');
        } catch {
          context.addIssue({ code: 'custom', message: 'names a file that cannot be read' });
          return z.NEVER;
        }
      })
      .register(forms, { kind: 'path' }),
  /** Reads the path of a file that can be read, and returns the path. For a file that is watched. */
  readablePath: () => z.string().refine(isReadable, { message: 'names a file that cannot be read' }).register(forms, { kind: 'path' }),
  /**
   * Reads the path of a file and returns what `parse` returns for the content of the file. The message of an Error that `parse` throws
   * is reported; a SyntaxError is reported without its message, which may quote the content.
   */
  parsedFile: <T>(parse: (content: string) => T) =>
    setting
      .file()
      .transform((content, context) => {
        try {
          return parse(content);
        } catch (error) {
          context.addIssue({ code: 'custom', message: error instanceof SyntaxError ? 'is not well-formed' : (error as Error).message });
          return z.NEVER;
        }
      })
      .register(forms, { kind: 'path' }),
};

/** Reads one setting from a string: a reader of {@link setting}, or another zod schema. */
export type SettingReader = z.ZodType;

/** Holds what {@link describeSetting} returns. */
export interface SettingDescription {
  readonly form: SettingForm;
  /** The value without a setting; undefined when there is none. */
  readonly defaultValue: unknown;
}

/** Returns what a setting accepts, and its default. A zod schema that is not made by {@link setting} counts as a string. */
export function describeSetting(reader: SettingReader): SettingDescription {
  let inner = reader;
  let defaultValue: unknown;
  while (inner instanceof z.ZodDefault || inner instanceof z.ZodOptional) {
    if (inner instanceof z.ZodDefault) defaultValue = inner.def.defaultValue;
    inner = inner.def.innerType as SettingReader;
  }
  return { form: forms.get(inner) ?? { kind: 'string' }, defaultValue };
}

/** Returns why a setting does not accept a value; undefined for one that it accepts. The message never contains the value. */
export function findFault(reader: SettingReader, value: string): string | undefined {
  const { error } = reader.safeParse(value);
  return error?.issues[0]?.message;
}

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

const HEADING = 'Invalid settings:\n';

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
  throw new SettingsError(`${HEADING}${lines.join('\n')}`);
}

/** Collects the faults of several readers, so that all are reported at once. */
export class SettingsFaults {
  readonly #lines: string[] = [];

  /** Adds a fault, as one line. */
  add(line: string): void {
    this.#lines.push(`  ${line}`);
  }

  /** Returns what `read` returns. Keeps the faults of a SettingsError that it throws, and returns undefined then. Throws any other error. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      if (error.message.startsWith(HEADING)) this.#lines.push(error.message.slice(HEADING.length));
      else this.add(error.message);
      return undefined;
    }
  }

  /** Throws a SettingsError with all faults, if there are any. */
  report(): void {
    if (this.#lines.length > 0) throw new SettingsError(`${HEADING}${this.#lines.join('\n')}`);
  }
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
    // An empty file would otherwise count as no certificate.
    new X509Certificate(cert);
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
