/** Applies changes of the configuration files, and of the files of policies, to the running process, as far as they can take effect without a restart. */
import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import type { ProcessLog } from '@trestle/log';
import type { Config, ProcessConfig } from './config.ts';
import { type AcceptedFiles, toAcceptedFiles } from './configuration/file/accepted-files.ts';
import { ENTRIES } from './configuration/entries/entries.ts';
import type { FileSettingName } from './configuration/entries/entry.ts';
import { readText } from './configuration/file/read-text.ts';
import { graphSettings, sourceHeader } from './configuration/settings/settings.ts';
import { type FileWatch, type FileWatchOptions, watchFile } from './configuration/file/watch-file.ts';
import { toRetryDelayMs } from './sources/passing-failure.ts';

export interface ConfigurationWatchOptions {
  /** The settings that the process has started with. */
  readonly config: ProcessConfig;
  /** Reads all settings again; with texts that take the place of files, for a process that begins with a configuration that others have applied. */
  readonly read: (accepted?: AcceptedFiles) => Promise<ProcessConfig>;
  /** The files that other processes have applied last, since the settings of `config`; undefined for none. */
  readonly applied?: AcceptedFiles | undefined;
  /** Called with the files of each configuration that was applied. */
  readonly onApplied?: ((files: AcceptedFiles) => void) | undefined;
  /** In the order of `config.graphs`. */
  readonly graphs: readonly RunningGraph[];
  readonly log: ProcessLog;
}

interface RunningGraph {
  readonly place: { readonly name: string | undefined };
  /** Applies settings; undefined for an engine that cannot. */
  readonly apply: ((next: Config) => Promise<void>) | undefined;
}

/**
 * Applies what other processes have applied before, and watches the configuration files and the files of policies, which are read with all settings
 * again. A changed file with faults is refused and logged, and all running settings stay. One that cannot be applied for a reason that may pass is tried
 * again.
 */
export async function watchConfigurations({
  config,
  read,
  applied,
  onApplied,
  graphs,
  log,
}: ConfigurationWatchOptions): Promise<FileWatch> {
  const files = new Map(toAcceptedFiles(config).texts);
  const applyToGraphs = createApply(config, { graphs, log });
  const apply = async (next: ProcessConfig) => {
    const later = [...findLater(config.env, next.env, true), ...(await applyToGraphs(next))];
    log.setLevel(next.LOG_LEVEL);
    if (later.length > 0) log.warn(`these changes of the configuration take effect at the next start: ${[...new Set(later)].join(', ')}`);
    policies.follow(findPolicyFiles(next, graphs));
    log.info('applied a changed configuration');
  };
  // Two files may change at once, and a change is applied to all graphs before the next one.
  let queue = Promise.resolve();
  const inOrder = (act: () => Promise<void>) => {
    const done = queue.then(act);
    queue = done.catch(() => undefined);
    return done;
  };
  const load = () =>
    inOrder(async () => {
      const next = await read();
      await apply(next);
      onApplied?.(toAcceptedFiles(next));
    });
  const refuse = (error: unknown) => {
    log.error('refused a changed configuration; the running one stays', { error });
  };
  const options = { load, refuse, retryAfterMs: toRetryDelayMs };
  const policies = createPolicyWatch(options);
  policies.follow(findPolicyFiles(config, graphs));
  const changed = [...(applied?.texts ?? [])].filter(([file, text]) => files.has(file) && files.get(file) !== text);
  if (changed.length > 0)
    try {
      await inOrder(async () => {
        await apply(await read(applied));
      });
      for (const [file, text] of changed) files.set(file, text);
    } catch (error) {
      log.error('cannot apply the configuration of the other workers', { error });
    }
  // A module stays in the memory of Node.js once it was loaded, so it is not watched.
  const watches = [...files].map(([file, initial]) => watchFile(file, { ...options, initial, read: readText }));
  return {
    stop: () => {
      for (const watch of [...watches, policies]) watch.stop();
    },
  };
}

/** Creates the watch of the files of policies, which a change of the configuration may replace by others: `follow` gets those of now, with their text. */
function createPolicyWatch(options: Pick<FileWatchOptions, 'load' | 'refuse' | 'retryAfterMs'>) {
  const watches = new Map<string, FileWatch>();
  let isStopped = false;
  const follow = (files: ReadonlyMap<string, string>) => {
    for (const [file, watch] of watches)
      if (!files.has(file)) {
        watch.stop();
        watches.delete(file);
      }
    for (const [file, initial] of files)
      if (!isStopped && !watches.has(file))
        watches.set(file, watchFile(file, { ...options, initial, read: (path) => readFile(path, 'utf8') }));
  };
  return {
    follow,
    stop: () => {
      isStopped = true;
      follow(new Map());
    },
  };
}

/** Returns the files of the policies of those graphs that can apply changed ones, with their text. Graphs may share a file. */
function findPolicyFiles(config: ProcessConfig, graphs: readonly RunningGraph[]): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { place, apply } of graphs) {
    const { env, POLICIES_FILE: policies } = config.graphs.find((graph) => graph.place.name === place.name)?.config ?? {};
    const file = env?.['POLICIES_FILE'];
    if (apply && policies && file !== undefined) files.set(file, policies.source);
  }
  return files;
}

/** Returns the function that applies settings to all graphs, or to none when one refuses. It returns what takes effect at the next start. */
function createApply(
  { graphs: started }: ProcessConfig,
  { graphs, log }: Pick<ConfigurationWatchOptions, 'graphs' | 'log'>,
): (next: ProcessConfig) => Promise<string[]> {
  const running = started.map(({ config }) => config);
  return async (next) => {
    const later: string[] = [];
    const undo: (() => Promise<void>)[] = [];
    for (const [i, { place, apply }] of graphs.entries()) {
      const settings = next.graphs.find((graph) => graph.place.name === place.name)?.config;
      const before = running[i];
      // A graph that is no longer named ends with the process. One without a change keeps its plans, and the comparison of its canary.
      if (!settings || !before || !hasChanged(before, settings)) continue;
      try {
        await apply?.(settings);
      } catch (error) {
        for (const each of undo)
          await each().catch((reason: unknown) => {
            log.error('a graph keeps a changed configuration that another graph has refused', { error: reason });
          });
        throw error;
      }
      running[i] = settings;
      undo.push(async () => {
        await apply?.(before);
        running[i] = before;
      });
      later.push(...findLater(started[i]?.config.env ?? {}, settings.env, apply !== undefined));
    }
    return later;
  };
}

/** Returns whether something differs that may take effect at once: a setting, or the policies in a file. */
function hasChanged(before: Config, after: Config): boolean {
  return !isDeepStrictEqual(before.env, after.env) || before.POLICIES_FILE?.source !== after.POLICIES_FILE?.source;
}

type Values = Config['env'];

/** Returns the settings that differ and take effect at the next start. */
function findLater(before: Values, after: Values, canApply: boolean): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  const paths = [...names].flatMap((name) => {
    if (before[name] === after[name]) return [];
    const entry = Object.hasOwn(ENTRIES, name) ? ENTRIES[name as FileSettingName] : undefined;
    if (entry) return entry.effect === 'start' || (!canApply && name !== 'LOG_LEVEL') ? [entry.path] : [];
    if (name.startsWith(sourceHeader.prefix)) return ['supergraph.headers'];
    if (isOfGraphs(name)) return ['graphs'];
    return canApply ? [] : [name];
  });
  return [...new Set(paths)];
}

function isOfGraphs(name: string): boolean {
  return Object.values(graphSettings).some(({ prefix }) => name.startsWith(prefix));
}
