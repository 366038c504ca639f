/** The command line of `trestle-gateway`: a command, and flags that take precedence over the environment and the configuration file. */
import { parseArgs } from 'node:util';
import { SettingsError, type SettingForm } from '@trestle/env';
import { describeDefault } from './configuration/generate/describe.ts';
import { type SettingNode, type SettingPlace, createSettingTree, listSettings } from './configuration/entries/setting-tree.ts';
import { suggest } from '@trestle/env/suggest';
import { readVersion } from './package-files.ts';

const COMMANDS = {
  start: 'Serve the supergraph. The default.',
  check: 'Validate the configuration and the supergraph. Exit codes: 0 valid, 1 a fault in the settings, 2 in the supergraph.',
  init: 'Write a configuration file with every setting, nearly all as comments: trestle.yaml, or the file of --config.',
} as const;

/** A command. */
export type CommandName = keyof typeof COMMANDS;

/** A parsed command line. */
export interface CommandLine {
  readonly command: CommandName;
  /** What to print instead, for `--help` and `--version`. */
  readonly notice: string | undefined;
  /** The settings of the flags, by their environment variables. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Parses the arguments after the program's name. Throws SettingsError for an unknown command, flag, or setting of `--set`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const places = listSettings(createSettingTree());
  const flags = places.filter(({ node }) => node.flag !== undefined);
  const options = {
    ...Object.fromEntries(flags.map(({ node }) => [node.flag ?? '', { type: 'string' as const }])),
    config: { type: 'string' },
    set: { type: 'string', multiple: true },
    help: { type: 'boolean', short: 'h' },
    version: { type: 'boolean', short: 'v' },
  } as const;
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const { help, version, config, set = [] } = values;
    const notice = help === true ? `${writeHelp(flags)}\n` : version === true ? `${readVersion()}\n` : undefined;
    const given = values as Readonly<Record<string, unknown>>;
    const settings = flags.flatMap(({ node }) => {
      const value = given[node.flag ?? ''];
      return typeof value === 'string' ? [[node.variables[0] ?? '', value]] : [];
    });
    const named = config === undefined ? [] : [['TRESTLE_CONFIG', config]];
    return {
      command: readCommand(positionals),
      notice,
      settings: Object.fromEntries([...set.map((each) => readAssignment(each, places)), ...settings, ...named]) as Record<string, string>,
    };
  } catch (error) {
    throw new SettingsError(`${(error as Error).message}\n${writeHelp(flags)}`);
  }
}

function readCommand([command = 'start', ...more]: readonly string[]): CommandName {
  const known = Object.keys(COMMANDS).find((each) => each === command) as CommandName | undefined;
  if (known === undefined) throw new Error(`Unknown command '${command}'.`);
  if (more.length > 0) throw new Error('Only one command is allowed.');
  return known;
}

const MAX_SHOWN_PATH = 100;
const RULES = /^(?:subgraphs\..+\.)?headers\.(?:request|response)$/;

/** Reads `limits.maxDepth=20`. */
function readAssignment(text: string, places: readonly SettingPlace[]): [name: string, value: string] {
  const [path = '', ...rest] = text.split('=');
  const value = rest.join('=');
  const found = places.flatMap((place) => {
    const name = matchPath(place.path, path);
    return name === undefined ? [] : [{ place, name }];
  })[0];
  if (rest.length === 0) throw new Error('--set needs a setting and its value, such as limits.maxDepth=20.');
  if (!found) {
    const paths = places.map((place) => place.path);
    const shown = path.slice(0, MAX_SHOWN_PATH);
    if (RULES.test(path)) throw new Error(`--set cannot set '${shown}': rules for headers can be in a configuration file only.`);
    throw new Error(`Unknown setting '${shown}' of --set${suggest(path, paths) || '.'}`);
  }
  const { place, name } = found;
  return [(place.node.variables[0] ?? '').replace('*', name.toUpperCase()), toText(value, place.node.form)];
}

/** Returns what stands for `<name>` in a path, an empty string for a path without it, and undefined for another path. */
function matchPath(pattern: string, path: string): string | undefined {
  const [start = '', end] = pattern.split('<name>');
  if (end === undefined) return path === pattern ? '' : undefined;
  const isMatch = path.length > start.length + end.length && path.startsWith(start) && path.endsWith(end);
  return isMatch ? path.slice(start.length, path.length - end.length) : undefined;
}

/** Switches are true and false, as in a file; the environment says on and off. */
function toText(value: string, { kind }: SettingForm): string {
  if (kind !== 'boolean') return value;
  return value === 'true' ? 'on' : value === 'false' ? 'off' : value;
}

function writeHelp(flags: readonly SettingPlace[]): string {
  const commands = Object.entries(COMMANDS);
  const rows: (readonly [string, string])[] = [
    ...flags.map(
      ({ node }) =>
        [
          `--${node.flag ?? ''} ${node.placeholder ?? toPlaceholder(node.form)}`,
          `${node.about}${describeFallback(node)} [${node.variables[0] ?? ''}]`,
        ] as const,
    ),
    ['--set NAME=VALUE', 'Any setting of a configuration file but rules for headers, such as limits.maxDepth=20. May be repeated.'],
    ['--config FILE', 'The configuration file. Default: trestle.yaml, trestle.yml or trestle.json, if there is one. [TRESTLE_CONFIG]'],
    ['-h, --help', 'Print this help.'],
    ['-v, --version', 'Print the version.'],
  ];
  return [
    'Usage: trestle-gateway [start|check|init] [flags]',
    '',
    'Serves a Federation 2 supergraph at /graphql, or at server.path, over HTTP, WebSocket, server-sent events and multipart responses.',
    '',
    'Commands:',
    ...alignRows(commands),
    '',
    'Flags, with the environment variable that each overrides:',
    ...alignRows(rows),
    '',
    'All settings can be in a configuration file, or in environment variables; `trestle-gateway init` lists them.',
  ].join('\n');
}

/** Returns the default as a sentence; the values of flags are those of environment variables. */
function describeFallback(node: SettingNode): string {
  const { defaultValue } = node;
  if (typeof defaultValue === 'boolean') return ` Default: ${defaultValue ? 'on' : 'off'}.`;
  return typeof defaultValue === 'string' || typeof defaultValue === 'number'
    ? ` Default: ${String(defaultValue)}.`
    : describeDefault(node);
}

function alignRows(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, meaning]) => `  ${name.padEnd(width)}  ${meaning}`);
}

function toPlaceholder(form: SettingForm): string {
  if (form.kind === 'boolean') return 'on|off';
  if (form.kind === 'choice') return form.values.join('|');
  return form.kind === 'path' ? 'FILE' : 'VALUE';
}
