/** Applies changes of the configuration file to the running process, as far as they can take effect without a restart. */
import type { ProcessLog } from '@trestle/log';
import type { Config } from './config.ts';
import { ENTRIES, type FileSettingName } from './configuration/entries.ts';
import { readText } from './configuration/read-text.ts';
import { sourceHeader } from './configuration/settings.ts';
import { type FileWatch, watchFile } from './configuration/watch-file.ts';

export interface ConfigurationWatchOptions {
  /** The settings that the process has started with. */
  readonly config: Config;
  /** Reads all settings again. */
  readonly read: () => Promise<Config>;
  /** Applies settings; undefined for an engine that cannot. */
  readonly apply: ((next: Config) => Promise<void>) | undefined;
  readonly log: ProcessLog;
}

/** Watches the configuration file, if there is one. A changed file with faults is refused and logged, and the running settings stay. */
export function watchConfiguration({ config, read, apply, log }: ConfigurationWatchOptions): FileWatch {
  const { file, text } = config.configuration;
  // A module stays in the memory of Node.js once it was loaded.
  if (file === undefined || text === undefined) return { stop: () => undefined };
  return watchFile(file, {
    initial: text,
    read: readText,
    load: async () => {
      const next = await read();
      await apply?.(next);
      log.setLevel(next.LOG_LEVEL);
      const later = findLater(config.env, next.env, apply !== undefined);
      if (later.length > 0) log.warn(`these changes of the configuration take effect at the next start: ${later.join(', ')}`);
      log.info('applied a changed configuration');
    },
    refuse: (error) => {
      log.error('refused a changed configuration; the running one stays', { error });
    },
  });
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
    return canApply ? [] : [name];
  });
  return [...new Set(paths)];
}
