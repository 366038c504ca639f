/** Where each of several graphs is served, and which settings their files share with that of the process. */
import { isDeepStrictEqual } from 'node:util';
import { findFault, readFamily } from '@trestle/env';
import type { SourceSettings } from './choose-source.ts';
import { ENTRIES } from './entries/entries.ts';
import type { FileSettingName } from './entries/entry.ts';
import type { Configuration } from './load-configuration.ts';
import { stageSettings } from './settings/coprocessor-settings.ts';
import { graphSettings, sourceHeader, subgraphSettings } from './settings/settings.ts';

/** Which requests a graph gets. */
export interface GraphPlace {
  /** In lower case; undefined for the only graph of a process, which gets all. */
  readonly name: string | undefined;
  /** The path before that of GraphQL requests; empty for none. */
  readonly path: string;
  /** In lower case; empty for any host. */
  readonly hosts: readonly string[];
}

/** The place of the only graph. */
export const EVERYWHERE: GraphPlace = { name: undefined, path: '', hosts: [] };

/** One of several graphs. */
export interface NamedGraph {
  readonly place: GraphPlace;
  readonly file: string;
}

type Values = Readonly<Record<string, string | undefined>>;

type Key = keyof typeof graphSettings;

/**
 * Returns the graphs that the settings name; undefined for a process with one graph. Adds a fault for each that is incomplete, or at the place of another. `written` are those
 * that the configuration file names, also without settings.
 */
export function readGraphs(
  env: Values,
  written: readonly string[],
  addFault: (graph: string, key: Key, message: string) => void,
): NamedGraph[] | undefined {
  const valuesOf = (key: Key) => readFamily(graphSettings[key].prefix, env);
  const [files, paths, hostLists] = [valuesOf('config'), valuesOf('path'), valuesOf('hosts')];
  const taken = new Map<string, string>();
  const names = [...files.keys(), ...paths.keys(), ...hostLists.keys(), ...written.map((name) => name.toLowerCase())];
  if (names.length === 0) return undefined;
  return [...new Set(names)].flatMap((name) => {
    const [file, path = '', hostList = ''] = [files.get(name), paths.get(name), hostLists.get(name)];
    const pathFault = path === '' ? undefined : findFault(graphSettings.path.reader, path);
    const hostFault = findFault(graphSettings.hosts.reader, hostList);
    if (file === undefined) addFault(name, 'config', 'must name the configuration file of the graph');
    if (pathFault !== undefined) addFault(name, 'path', pathFault);
    if (hostFault !== undefined) addFault(name, 'hosts', hostFault);
    if (file === undefined || pathFault !== undefined || hostFault !== undefined) return [];
    const hosts = graphSettings.hosts.reader.parse(hostList).map((host) => host.toLowerCase());
    for (const place of (hosts.length > 0 ? hosts : ['']).map((host) => host + path)) {
      const other = taken.get(place);
      if (other !== undefined) addFault(name, 'path', `is that of ${other}: give one of them another path, or other hosts`);
      taken.set(place, name);
    }
    return [{ place: { name, path, hosts }, file }];
  });
}

/** Sections that hold for the process, with all its graphs. */
const OF_PROCESS = ['server.', 'log.', 'telemetry.', 'rateLimits.'];
/** Single settings that do. */
const SHARED: ReadonlySet<string> = new Set(['SLOW_CONSUMER_TOTAL_BYTES'] satisfies FileSettingName[]);
/** The section that each graph has by itself. */
const OF_GRAPH = 'supergraph.';

function isOfProcess(name: FileSettingName): boolean {
  return SHARED.has(name) || OF_PROCESS.some((section) => ENTRIES[name].path.startsWith(section));
}

/** Returns the settings of the process that its graphs have too, unless their files say otherwise: all but those of the supergraph and of subgraphs. */
export function inherit(env: Values): Record<string, string> {
  const ofStages = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && Object.values(stageSettings).some(({ prefix }) => name.startsWith(prefix)) ? [[name, value] as const] : [],
  );
  return Object.fromEntries([
    ...ofStages,
    ...(Object.keys(ENTRIES) as FileSettingName[]).flatMap((name): (readonly [string, string])[] => {
      const value = env[name];
      return value === undefined || ENTRIES[name].path.startsWith(OF_GRAPH) ? [] : [[name, value]];
    }),
  ]);
}

/** Returns a line for each setting in a graph's file that belongs into that of the process. */
export function findMisplaced({ values, describe }: Configuration): string[] {
  return Object.keys(values).flatMap((name) => {
    if (name.startsWith('GRAPH_')) return [describe('graphs', 'must not be in the file of a graph')];
    if (!Object.hasOwn(ENTRIES, name) || !isOfProcess(name as FileSettingName)) return [];
    return [describe(ENTRIES[name as FileSettingName].path, 'holds for the whole process: set it in the file that names the graphs')];
  });
}

/** Adds a fault for each source of a supergraph, and each setting of a subgraph, in the settings of a process with several graphs. */
export function refuseGraphSettings(env: Values, addFault: (name: string, message: string) => void): void {
  const message = 'must be in the file of a graph, because there are several';
  const ofGraph = (Object.keys(ENTRIES) as FileSettingName[]).filter((name) => ENTRIES[name].path.startsWith(OF_GRAPH));
  for (const name of ['SUPERGRAPH_PATH', ...ofGraph]) if (env[name] !== undefined) addFault(name, message);
  const families = [...Object.values(subgraphSettings), sourceHeader];
  for (const { prefix } of families) for (const [name] of readFamily(prefix, env)) addFault(`${prefix}${name.toUpperCase()}`, message);
}

/** A graph with its source; undefined after a fault in its settings. */
interface SourcedGraph {
  readonly place: Pick<GraphPlace, 'name'>;
  readonly config: { readonly supergraph: SourceSettings | undefined; readonly configuration: Pick<Configuration, 'describe'> } | undefined;
}

/** Returns a line for each graph whose copy on disk another graph, with another source, would replace. */
export function findSharedCopies(graphs: readonly SourcedGraph[]): string[] {
  const owners = new Map<string, { readonly name: string; readonly source: object }>();
  return graphs.flatMap(({ place: { name = '' }, config }) => {
    const { supergraph, configuration } = config ?? {};
    if (!supergraph || !configuration || supergraph.kind === 'file') return [];
    const { polling, ...source } = supergraph;
    if (polling.cacheFile === undefined) return [];
    const owner = owners.get(polling.cacheFile);
    if (!owner) owners.set(polling.cacheFile, { name, source });
    if (!owner || isDeepStrictEqual(owner.source, source)) return [];
    return [
      configuration.describe('supergraph.cacheFile', `is that of the graph ${owner.name}, which has another source: name another file`),
    ];
  });
}
