/** The command line of `trestle-gateway`: each flag overrides a setting of the environment. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { SettingsError } from '@trestle/env';
import { toPackageUrl } from './package-files.ts';

interface Flag {
  readonly setting: string;
  /** The placeholder of its value in the help. */
  readonly value: string;
  readonly meaning: string;
}

const FLAGS: Readonly<Record<string, Flag>> = {
  supergraph: {
    setting: 'SUPERGRAPH_PATH',
    value: 'FILE',
    meaning: 'The supergraph to serve. A changed file is loaded without a restart.',
  },
  port: { setting: 'PORT', value: 'N', meaning: 'The port to listen on; 0 for a free one. Default: 4000.' },
  host: { setting: 'HOST', value: 'ADDRESS', meaning: 'The address to listen on. Default: 127.0.0.1.' },
  auth: {
    setting: 'AUTH',
    value: 'on|off',
    meaning: 'off: the gateway forwards credentials to the subgraphs unchecked. Default: on, with TOKEN_PUBLIC_KEY_FILE or TOKEN_JWKS_URL.',
  },
  engine: { setting: 'GATEWAY_ENGINE', value: 'trestle|apollo', meaning: 'The query engine. Default: trestle.' },
  introspection: { setting: 'INTROSPECTION', value: 'on|off', meaning: 'Whether clients may query __schema and __type. Default: on.' },
};

/** Returns the text that `--help` or `--version` prints; undefined without these flags. Throws SettingsError for an unknown flag. */
export function readNotice(args: readonly string[]): string | undefined {
  const { help, version } = parse(args);
  if (help === true) return `${writeHelp()}\n`;
  return version === true ? `${readVersion()}\n` : undefined;
}

/** Returns the settings of the flags, by the settings' names. Throws SettingsError for an unknown flag. */
export function readFlags(args: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parse(args)).flatMap(([name, value]) => {
      const flag = Object.hasOwn(FLAGS, name) ? FLAGS[name] : undefined;
      return flag ? [[flag.setting, String(value)]] : [];
    }),
  );
}

function parse(args: readonly string[]): Record<string, unknown> {
  const options = Object.fromEntries(Object.keys(FLAGS).map((name) => [name, { type: 'string' as const }]));
  const notices = { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } } as const;
  try {
    return parseArgs({ args: [...args], options: { ...options, ...notices } }).values;
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}\n${writeHelp()}`);
  }
}

function writeHelp(): string {
  const rows: (readonly [string, string])[] = [
    ...Object.entries(FLAGS).map(([name, { value, meaning, setting }]) => [`--${name} ${value}`, `${meaning} [${setting}]`] as const),
    ['-h, --help', 'Print this help.'],
    ['-v, --version', 'Print the version.'],
  ];
  const width = Math.max(...rows.map(([flag]) => flag.length));
  return [
    'Usage: trestle-gateway [flags]',
    '',
    'Serves a Federation 2 supergraph at /graphql over HTTP, WebSocket, server-sent events and multipart responses.',
    '',
    'Flags, with the environment variable that each overrides:',
    ...rows.map(([flag, meaning]) => `  ${flag.padEnd(width)}  ${meaning}`),
    '',
    'Other settings are environment variables; .env.example lists them with their defaults.',
  ].join('\n');
}

function readVersion(): string {
  const { version } = JSON.parse(readFileSync(toPackageUrl('package.json'), 'utf8')) as { version: string };
  return version;
}
