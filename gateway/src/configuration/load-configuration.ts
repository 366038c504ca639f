/** Loads the configuration file: finds it, reads it, and reports its faults with their places. */
import { existsSync } from 'node:fs';
import { SettingsError } from '@trestle/env';
import { type HeaderRules, NO_HEADER_RULES } from '../headers/header-rules.ts';
import type { AcceptedFiles } from './file/accepted-files.ts';
import type { FileFault } from './file/file-fault.ts';
import type { ParsedFile } from './file/parse-file.ts';
import { isModule, readText } from './file/read-text.ts';
import { createSettingTree } from './entries/setting-tree.ts';
import type { Environment } from './file/substitute.ts';

/** The names of a file in the working directory that is read without being named. */
/** The names of the configuration file, without `--config`. */
export const DEFAULT_FILES = ['trestle.yaml', 'trestle.yml', 'trestle.json'] as const;
/** More faults are counted only. */
const MAX_FAULTS = 50;

/** A configuration file. */
export interface Configuration {
  /** Undefined without a file. */
  readonly file: string | undefined;
  /** The text of the file; undefined for a module, and without a file. */
  readonly text: string | undefined;
  /** The subgraphs that the file has settings of, as written there. */
  readonly subgraphs: readonly string[];
  /** The graphs that the file names, as written there. */
  readonly graphs: readonly string[];
  /** The settings of the file, by the names of their environment variables. */
  readonly values: Readonly<Record<string, string>>;
  readonly headerRules: HeaderRules;
  /** Whether the file could be read, or there is none; else its settings are unknown. */
  readonly isWellFormed: boolean;
  /** One line for each fault, with the file, the line and the column. */
  readonly faults: readonly string[];
  /** Returns whether one of these faults is at a place in the file, or below it. */
  readonly isFaulty: (path: string) => boolean;
  /** Returns a line for a fault that was found later, such as by comparison with the supergraph. */
  readonly describe: (path: string, message: string) => string;
}

const NO_CONFIGURATION: Configuration = {
  file: undefined,
  text: undefined,
  subgraphs: [],
  graphs: [],
  values: {},
  headerRules: NO_HEADER_RULES,
  isWellFormed: true,
  faults: [],
  isFaulty: () => false,
  describe: (path, message) => `${path}: ${message}`,
};

/**
 * Loads the file `named`; undefined for the one in the working directory, if there is one. `accepted` has texts that take the place of files. Rejects
 * with SettingsError for two files in the working directory.
 */
export async function loadConfiguration(
  named: string | undefined,
  environment: Environment,
  accepted?: AcceptedFiles,
): Promise<Configuration> {
  const file = named ?? (accepted ? accepted.file : findFile());
  if (file === undefined) return NO_CONFIGURATION;
  // Only a start with a file needs the parser.
  const { loadModule, parseText } = await import('./file/parse-file.ts');
  const { readValues } = await import('./values/read-values.ts');
  const known = accepted?.texts.get(file);
  const text = known === undefined ? readText : () => Promise.resolve(known);
  const read = isModule(file) ? loadModule(file) : text(file).then(parseText);
  const parsed = await read.catch((error: unknown) => `${file}: ${describeFailure(error)}`);
  if (typeof parsed === 'string') return { ...NO_CONFIGURATION, file, isWellFormed: false, faults: [parsed] };
  const { values, headerRules, subgraphs, graphs, faults, offsets } = readValues(parsed, { tree: createSettingTree(), file, environment });
  return {
    file,
    text: parsed.text,
    subgraphs,
    graphs,
    values: Object.fromEntries(values),
    headerRules,
    isWellFormed: parsed.faults.length === 0,
    faults: writeFaults(file, parsed, faults),
    isFaulty: (path) =>
      faults.some((fault) => fault.path === path || fault.path.startsWith(`${path}.`) || fault.path.startsWith(`${path}[`)),
    describe: (path, message) => writeFault(file, parsed, { path, message, offset: findOffset(path, offsets) }),
  };
}

/** Returns where a setting stands in the file; one that is missing stands where the section would have it. */
function findOffset(path: string, offsets: ReadonlyMap<string, number | undefined>): number | undefined {
  const dot = path.lastIndexOf('.');
  return offsets.get(path) ?? (dot < 0 ? undefined : findOffset(path.slice(0, dot), offsets));
}

function findFile(): string | undefined {
  const [first, second] = DEFAULT_FILES.filter((name) => existsSync(name));
  if (first !== undefined && second !== undefined)
    throw new SettingsError(`There are ${first} and ${second}. Name the one to use with --config.`);
  return first;
}

/** The message of a SyntaxError of a module quotes nothing but tokens; that of a system call has a code. */
function describeFailure(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return 'is not valid UTF-8';
  return code === 'ENOENT' ? 'does not exist' : code === undefined ? message : `cannot be read (${code})`;
}

function writeFaults(file: string, parsed: ParsedFile, faults: readonly FileFault[]): string[] {
  const inOrder = [...faults].sort((one, other) => (one.offset ?? 0) - (other.offset ?? 0));
  const lines = inOrder.slice(0, MAX_FAULTS).map((fault) => writeFault(file, parsed, fault));
  return faults.length > MAX_FAULTS ? [...lines, `${file}: ${String(faults.length - MAX_FAULTS)} more faults`] : lines;
}

function writeFault(file: string, { locate }: ParsedFile, { path, message, offset }: FileFault): string {
  const place = offset === undefined ? undefined : locate(offset);
  const where = place ? `${file}:${String(place.line)}:${String(place.column)}` : file;
  return path === '' ? `${where}: ${message}` : `${where}: ${path}: ${message}`;
}
