/** What a command of `trestle` is, and what it gets. */
import type { ExitCode } from './exit-codes.ts';
import type { RegistryClient } from './registry.ts';
import type { Reporter } from './report.ts';

/** The options of a command, for `parseArgs` of Node.js. */
export type Options = Readonly<Record<string, { readonly type: 'string' | 'boolean'; readonly multiple?: boolean }>>;

/** What the user gave. */
export interface Given {
  readonly positionals: readonly string[];
  /** Returns the last value of a string option, or undefined. */
  readonly text: (option: string) => string | undefined;
  /** Returns all values of a string option that can be repeated. */
  readonly list: (option: string) => readonly string[];
  /** Returns whether a boolean option is set. */
  readonly isSet: (option: string) => boolean;
  /** Returns a string option. Throws a CommandError without it. */
  readonly required: (option: string) => string;
}

/** What a command gets. */
export interface CommandContext extends Given {
  readonly reporter: Reporter;
  /** Returns the client of the registry. Throws a CommandError when its address or token is missing. */
  readonly registry: () => RegistryClient;
  /** Returns the environment. Throws a CommandError without one. */
  readonly environment: () => string;
}

/** A command. */
export interface Command {
  /** Its words, such as `subgraph check`. */
  readonly words: string;
  /** Its arguments and options, for `--help`. */
  readonly usage: string;
  /** What it does, in one sentence. */
  readonly summary: string;
  readonly options: Options;
  /** Whether it has options only: an argument, such as an environment without `--environment`, is an error then. */
  readonly takesNoArguments?: true;
  readonly run: (context: CommandContext) => Promise<ExitCode>;
}

/** Options of every command. */
export const COMMON_OPTIONS = {
  registry: { type: 'string' },
  environment: { type: 'string' },
  format: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const satisfies Options;
