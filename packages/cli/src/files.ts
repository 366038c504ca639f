/** Reads schemas, documents and the file of `supergraph compose`. */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import type { SubgraphSource } from '@trestle/graph-checks/compose';
import { parse as parseYaml } from 'yaml';
import type { CommandContext } from './command.ts';
import { CommandError, EXIT, usageError } from './exit-codes.ts';
import type { Sources } from './report.ts';

/** A subgraph of the command line. */
export interface LocalSubgraph {
  readonly name: string;
  readonly path: string;
  readonly sdl: string;
  readonly url?: string;
}

/** Larger files are refused: the registry takes schemas of 2,000,000 characters. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Returns the content of a file, or of standard input for `-`, without a byte order mark, which editors on Windows write. Throws a CommandError when
 * it cannot be read, or when it is standard input for the second time.
 */
export async function readText(path: string): Promise<string> {
  try {
    return (path === '-' ? await readInput() : await readWhole(path)).replace(/^\ufeff/u, '');
  } catch (error) {
    throw new CommandError(`Cannot read ${path}: ${(error as Error).message}.`, EXIT.usage, 'UNREADABLE_FILE');
  }
}

async function readWhole(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > MAX_BYTES) throw new Error(`it is larger than ${String(MAX_BYTES)} bytes`);
  return await readFile(path, 'utf8');
}

let isInputTaken = false;

async function readInput(): Promise<string> {
  if (isInputTaken) throw new Error('standard input can be read once');
  isInputTaken = true;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`it is larger than ${String(MAX_BYTES)} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Writes text to the file of `--output`, or returns it to standard output. */
export async function writeResult(text: string, { text: option, reporter }: CommandContext): Promise<void> {
  const output = option('output');
  if (output === undefined) {
    reporter.data(text);
    return;
  }
  try {
    await writeFile(output, text);
  } catch (error) {
    throw new CommandError(`Cannot write ${output}: ${(error as Error).message}.`, EXIT.usage, 'UNWRITABLE_FILE');
  }
}

/**
 * Returns the subgraphs of the arguments: `FILE`, whose name without its ending is the subgraph's, or `NAME=FILE`. `--name` and `--schema` name one,
 * as in rover. `--routing-url` is the address of the only one, or `NAME=URL`.
 */
export async function readSubgraphs(context: CommandContext): Promise<LocalSubgraph[]> {
  const places = context.positionals.map(toPlace);
  const [name, schema] = [context.text('name'), context.text('schema')];
  if (schema !== undefined) places.push({ name: name ?? toName(schema), path: schema });
  else if (name !== undefined && places.length === 1) places.splice(0, 1, { name, path: places[0]?.path ?? '' });
  else if (name !== undefined) throw usageError('--name needs exactly one schema. For several write NAME=FILE.');
  if (places.length === 0) throw usageError('Name at least one schema: FILE, NAME=FILE, or --name NAME --schema FILE.');
  const twice = places.find((place, index) => places.findIndex((each) => each.name === place.name) < index);
  if (twice) throw usageError(`Subgraph "${twice.name}" is given twice.`);
  const urls = readAssignments(context.list('routing-url'), 'routing-url', places);
  return await Promise.all(
    places.map(async (place) => {
      const url = urls.get(place.name);
      return { ...place, sdl: await readText(place.path), ...(url !== undefined && { url }) };
    }),
  );
}

/** Returns the values of an option by subgraph: `NAME=VALUE`, or the value alone when there is one subgraph. */
export function readAssignments(values: readonly string[], option: string, subgraphs: readonly { name: string }[]): Map<string, string> {
  return new Map(
    values.map((value) => {
      const [, name, rest] = /^([\w-]+)=(.*)$/su.exec(value) ?? [];
      const named = subgraphs.find((each) => each.name === name);
      if (named && rest !== undefined) return [named.name, rest];
      const [only] = subgraphs;
      if (subgraphs.length !== 1 || only === undefined)
        throw usageError(`--${option} needs NAME=URL with the name of a subgraph of this command.`);
      return [only.name, value];
    }),
  );
}

/** Returns the files by subgraph, for code frames. */
export function toSources(subgraphs: readonly LocalSubgraph[]): Sources {
  return new Map(subgraphs.map(({ name, path, sdl }) => [name, { path, text: sdl }]));
}

/**
 * Returns the subgraphs of a file of `supergraph compose --config`, which has the form of rover's: `subgraphs: {NAME: {routing_url, schema: {file}}}`.
 * Files are relative to it. Throws a CommandError when it has another form.
 */
export async function readConfig(path: string): Promise<Required<LocalSubgraph>[]> {
  const text = await readText(path);
  const invalid = (reason: string) => new CommandError(`${path} is invalid: ${reason}.`, EXIT.usage, 'INVALID_CONFIG');
  let config: unknown;
  try {
    config = parseYaml(text, { maxAliasCount: 0 });
  } catch (error) {
    throw invalid((error as Error).message.split('\n')[0] ?? '');
  }
  const subgraphs = isObject(config) ? config['subgraphs'] : undefined;
  if (!isObject(subgraphs) || Object.keys(subgraphs).length === 0) throw invalid('`subgraphs` must have at least one subgraph');
  return await Promise.all(
    Object.entries(subgraphs).map(async ([name, entry]) => {
      const schema = isObject(entry) ? entry['schema'] : undefined;
      const file = isObject(schema) ? schema['file'] : undefined;
      if (!isObject(entry) || typeof file !== 'string') throw invalid(`subgraph \`${name}\` needs \`schema.file\``);
      const place = join(dirname(path), file);
      const url = entry['routing_url'];
      return { name, path: place, sdl: await readText(place), url: typeof url === 'string' ? url : '' };
    }),
  );
}

/** Returns subgraphs as the composer takes them. */
export function toSubgraphSources(subgraphs: readonly LocalSubgraph[]): SubgraphSource[] {
  return subgraphs.map(({ name, sdl, url = '' }) => ({ name, sdl, url }));
}

function toPlace(argument: string): { name: string; path: string } {
  const [, name, path] = /^([A-Za-z][\w-]*)=(.+)$/su.exec(argument) ?? [];
  if (name !== undefined && path !== undefined) return { name, path };
  return { name: toName(argument), path: argument };
}

function toName(path: string): string {
  if (path === '-') throw usageError('Name the subgraph of standard input: NAME=-.');
  return basename(path, extname(path));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
