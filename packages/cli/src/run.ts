/** Finds the command of a command line, runs it, and reports its errors. */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { COMMON_OPTIONS, type Command, type CommandContext, type Given, type Options } from './command.ts';
import { contractCreate, contractDelete, contractList, contractShow, contractUpdate } from './commands/contract.ts';
import { dev } from './commands/dev.ts';
import { launchList, launchPromote, launchRollback, launchShow } from './commands/launch.ts';
import { checkApprove, operationsList, operationsPush, operationsRemove } from './commands/operations.ts';
import { subgraphCheck } from './commands/subgraph-check.ts';
import { subgraphDelete, subgraphPublish } from './commands/subgraph-publish.ts';
import { subgraphFetch, subgraphIntrospect, subgraphLint, subgraphList } from './commands/subgraph-read.ts';
import { supergraphCompose, supergraphDiff, supergraphFetch } from './commands/supergraph.ts';
import { CommandError, EXIT, type ExitCode, usageError } from './exit-codes.ts';
import { createRegistryClient } from './registry.ts';
import { FORMATS, type Format, createReporter, reportError } from './report.ts';
import type { Terminal } from './terminal.ts';

/** All commands, in the order of the help. They load what composes and lints when they run: most send a request only. */
export const COMMANDS: readonly Command[] = [
  ...[subgraphCheck, subgraphPublish, subgraphDelete, subgraphList, subgraphFetch, subgraphIntrospect, subgraphLint],
  ...[supergraphFetch, supergraphCompose, supergraphDiff],
  ...[launchList, launchShow, launchRollback, launchPromote],
  ...[contractList, contractCreate, contractUpdate, contractShow, contractDelete],
  ...[operationsPush, operationsList, operationsRemove, checkApprove, dev],
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Runs a command line, without the name of the command. Returns the exit code; never throws. */
export async function run(args: readonly string[], env: Environment, terminal: Terminal): Promise<ExitCode> {
  const format = findFormat(args);
  try {
    const command = COMMANDS.find(({ words }) => words === args.slice(0, countWords(words)).join(' '));
    if (!command) return args[0] === '--version' ? showVersion(terminal) : showHelp(args, format, terminal);
    const given = parse(command, args.slice(countWords(command.words)));
    if (given.isSet('help')) {
      terminal.out(`${command.summary}\n\ntrestle ${command.words} ${command.usage}\n\n${SHARED}`);
      return EXIT.success;
    }
    return await command.run(createContext(given, env, terminal));
  } catch (error) {
    const known = error instanceof CommandError ? error : undefined;
    const message = error instanceof Error ? error.message : String(error);
    reportError({ code: known?.code ?? 'INTERNAL', message: known ? message : `The command failed: ${message}` }, format, terminal);
    return known?.exitCode ?? EXIT.internal;
  }
}

const SHARED = `Of all commands:
  --environment NAME   the environment; default REGISTRY_ENVIRONMENT
  --registry URL       the registry; default REGISTRY_URL. The token is REGISTRY_TOKEN
  --format FORMAT      text, json, or github (annotations); --json is --format json
  --help
`;

/** Lists all commands, or those of a group such as `subgraph`. A command that does not exist is an error, and so is a group for programs. */
function showHelp([first, second]: readonly string[], format: Format, terminal: Terminal): ExitCode {
  const isWhole = first === undefined || first === '--help' || first === 'help';
  const isGroup = COMMANDS.some(({ words }) => words.startsWith(`${first ?? ''} `));
  const isAsked = isWhole || (isGroup && second === '--help');
  const isNamed = second !== undefined && !second.startsWith('-');
  if (!isAsked && (!isGroup || isNamed || format !== 'text'))
    throw usageError(`Unknown command "${isGroup && isNamed ? `${first} ${second}` : first}". See trestle --help.`);
  const shown = COMMANDS.filter(({ words }) => isWhole || words.startsWith(`${first} `));
  const list = shown.map(({ words, summary }) => `  ${words.padEnd(20)} ${summary}`).join('\n');
  terminal.out(`Usage: trestle COMMAND\n\n${list}\n\n${SHARED}`);
  return isAsked ? EXIT.success : EXIT.usage;
}

/** `package.json` is in the folder above this module, in the repository and in the package. */
function showVersion(terminal: Terminal): ExitCode {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string };
  terminal.out(`${version}\n`);
  return EXIT.success;
}

function countWords(words: string): number {
  return words.split(' ').length;
}

/** The format is known before anything can fail, so that errors have it. */
function findFormat(args: readonly string[]): Format {
  if (args.includes('--json')) return 'json';
  const at = args.findIndex((arg) => arg === '--format' || arg.startsWith('--format='));
  const value = args[at]?.includes('=') ? args[at].slice('--format='.length) : args[at + 1];
  return FORMATS.find((each) => at >= 0 && each === value) ?? 'text';
}

function parse(command: Command, args: readonly string[]): Given {
  const options: Options = { ...COMMON_OPTIONS, ...command.options };
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw usageError(`${(error as Error).message} See trestle ${command.words} --help.`);
  }
  const [argument] = parsed.positionals;
  if (command.takesNoArguments && argument !== undefined)
    throw usageError(`${command.words} takes options only, not "${argument}". See trestle ${command.words} --help.`);
  const values = parsed.values as Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;
  const list = (option: string) => [values[option] ?? []].flat().filter((value) => typeof value === 'string');
  const text = (option: string) => list(option).at(-1);
  const required = (option: string) => text(option) ?? missing(`--${option} is required. See trestle ${command.words} --help.`);
  return { positionals: parsed.positionals, list, text, required, isSet: (option) => values[option] === true };
}

function createContext(given: Given, env: Environment, terminal: Terminal): CommandContext {
  const name = given.isSet('json') ? 'json' : (given.text('format') ?? 'text');
  const format = FORMATS.find((each) => each === name) ?? missing(`--format must be one of ${FORMATS.join(', ')}, not "${name}".`);
  return {
    ...given,
    reporter: createReporter(format, terminal),
    registry: () => createRegistryClient(given.text('registry') ?? env['REGISTRY_URL'], env['REGISTRY_TOKEN']),
    environment: () =>
      given.text('environment') ??
      env['REGISTRY_ENVIRONMENT'] ??
      missing('The environment is not known. Pass --environment NAME, or set REGISTRY_ENVIRONMENT.'),
  };
}

function missing(message: string): never {
  throw usageError(message);
}
