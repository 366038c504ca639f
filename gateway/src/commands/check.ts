/** `trestle-gateway check`: validates the configuration and the supergraph as a start would, without listening. */
import { readFile } from 'node:fs/promises';
import { SettingsError, readFamily } from '@trestle/env';
import type { EventSettings } from '../cache/events/invalidate-by-events.ts';
import type { SourceSettings } from '../configuration/choose-source.ts';
import { subgraphSettings } from '../configuration/settings/settings.ts';
import { suggest } from '@trestle/env/suggest';
import { loadModule } from '../extensions/load-extensions.ts';
import type { Limits } from '../limits/limits.ts';
import { startPlannerThread } from '../plan/threads/planner-thread.ts';
import { openSource } from '../sources/open-source.ts';

/** What {@link check} exits with. */
export const EXIT = { valid: 0, badConfiguration: 1, badSupergraph: 2 } as const;

/** The settings that matter for the check: those of the graphs. */
export interface CheckedConfiguration {
  readonly configuration: { readonly file: string | undefined };
  readonly graphs: readonly { readonly config: CheckedGraph }[];
}

/** The settings of one graph. */
export interface CheckedGraph extends Pick<EventSettings, 'RESPONSE_CACHE_SUBSCRIPTIONS_FILE'> {
  readonly supergraph: SourceSettings;
  readonly limits: Limits;
  readonly extensions: { readonly file: string | undefined };
  /** The settings from the file and the environment, as environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly configuration: {
    readonly file: string | undefined;
    /** The subgraphs that the file has settings of, as written there. */
    readonly subgraphs: readonly string[];
    readonly describe: (path: string, message: string) => string;
  };
}

export interface CheckOptions {
  readonly readConfig: () => Promise<CheckedConfiguration>;
  readonly print: (line: string) => void;
  readonly printFault: (line: string) => void;
}

/** Prints what is valid, and every fault; never a value of a setting but the paths of files. Returns the exit code. */
export async function check({ readConfig, print, printFault }: CheckOptions): Promise<number> {
  const config = await readConfig().catch((error: unknown) => {
    if (!(error instanceof SettingsError)) throw error;
    printFault(error.message);
    return undefined;
  });
  if (!config) return EXIT.badConfiguration;
  const { file } = config.configuration;
  const codes: number[] = [];
  for (const graph of config.graphs) codes.push(await checkGraph(graph.config, { print, printFault }));
  // A fault in the settings is named before one in a supergraph, which may follow from it.
  if (codes.includes(EXIT.badConfiguration)) return EXIT.badConfiguration;
  if (file !== undefined && config.graphs.length > 1) print(`${file} is valid.`);
  return Math.max(...codes);
}

/** Checks the supergraph of a graph, and its settings against it. */
async function checkGraph(graph: CheckedGraph, { print, printFault }: Pick<CheckOptions, 'print' | 'printFault'>): Promise<number> {
  const { configuration, env, supergraph, extensions } = graph;
  const { place, sdl } = await readSupergraph(supergraph, printFault);
  const loaded =
    sdl === undefined
      ? undefined
      : await load(sdl, graph).catch((error: unknown) => {
          printFault(`${place}: ${(error as Error).message}`);
          return undefined;
        });
  const names = loaded?.names;
  const faults = names ? findUnknownSubgraphs({ configuration, env }, names) : [];
  if (loaded?.subscriptionFault !== undefined)
    faults.push(configuration.describe('responseCache.subscriptions.file', loaded.subscriptionFault));
  faults.push(...(await findExtensionFaults(extensions.file)));
  for (const fault of faults) printFault(fault);
  if (faults.length > 0) return EXIT.badConfiguration;
  print(configuration.file === undefined ? 'The settings are valid; there is no configuration file.' : `${configuration.file} is valid.`);
  if (!names) return EXIT.badSupergraph;
  print(`${place} is valid: ${String(names.length)} subgraphs (${names.join(', ')}).`);
  return EXIT.valid;
}

/** Reads the supergraph from its source, once; never from the copy on disk. Prints why that is not possible. */
async function readSupergraph(settings: SourceSettings, printFault: CheckOptions['printFault']) {
  if (settings.kind === 'file') {
    const { file: place } = settings;
    const sdl = await readFile(place, 'utf8').catch((error: unknown) => {
      printFault(`${place}: ${(error as Error).message}`);
      return undefined;
    });
    return { place, sdl };
  }
  const source = openSource(settings);
  const reading = await source.read(new AbortController().signal).catch((error: unknown) => {
    // The message names the place.
    printFault((error as Error).message);
    return undefined;
  });
  return { place: reading?.place ?? source.place, sdl: reading?.sdl };
}

/** Returns the names of the subgraphs, and the first fault of the subscriptions of the response cache. Rejects for what is no supergraph. */
async function load(sdl: string, { limits, RESPONSE_CACHE_SUBSCRIPTIONS_FILE: subscriptions }: CheckedGraph) {
  const planner = await startPlannerThread(sdl, limits);
  const names = planner.facts.subgraphs.map(({ name }) => name);
  const { query, operationNames } = subscriptions ?? { query: '', operationNames: [] };
  const prepared = await Promise.all(operationNames.map((operationName) => planner.prepare({ query, operationName, labels: [] })));
  await planner.stop();
  return { names, subscriptionFault: prepared.flatMap((each) => ('errors' in each ? each.errors : [])).at(0)?.message };
}

async function findExtensionFaults(file: string | undefined): Promise<string[]> {
  if (file === undefined) return [];
  return loadModule(file).then(
    () => [],
    (error: unknown) => [(error as Error).message],
  );
}

/** Returns a line for each subgraph that the settings name and the supergraph does not have. */
function findUnknownSubgraphs({ configuration, env }: Pick<CheckedGraph, 'configuration' | 'env'>, names: readonly string[]): string[] {
  const known = new Set(names.map((name) => name.toLowerCase()));
  const { subgraphs, describe } = configuration;
  const inFile = new Set(subgraphs.map((name) => name.toLowerCase()));
  const message = (name: string) => `is no subgraph of the supergraph${suggest(name, names)}`;
  const ofFile = subgraphs.filter((name) => !known.has(name.toLowerCase()));
  // What the file names has its line already, with its place.
  const ofEnvironment = Object.values(subgraphSettings).flatMap(({ prefix }) =>
    [...readFamily(prefix, env).keys()].filter((name) => !known.has(name) && !inFile.has(name)).map((name) => ({ prefix, name })),
  );
  return [
    ...ofFile.map((name) => describe(`subgraphs.${name}`, message(name))),
    ...ofEnvironment.map(({ prefix, name }) => `${prefix}${name.toUpperCase()}: \`${name}\` ${message(name)}`),
  ];
}
