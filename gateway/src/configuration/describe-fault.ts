/** Names the place of a fault that is found once all settings are read: that in the file, or the environment variable. */
import type { SettingsFaults } from '@trestle/env';
import { ENTRIES } from './entries/entries.ts';
import type { AddFault, FileSettingName } from './entries/entry.ts';
import type { Configuration } from './load-configuration.ts';
import { subgraphSettings } from './settings/settings.ts';

interface Fault {
  /** An environment variable. */
  readonly name: string;
  readonly message: string;
}

interface FaultPlaces {
  readonly configuration: Configuration;
  /** The settings that do not come from the file. */
  readonly given: Readonly<Record<string, string>>;
}

/** Returns what adds a fault of a setting, with its place. */
export function createAddFault(places: FaultPlaces, faults: SettingsFaults): AddFault {
  return (name, message, needed) => {
    if (hasFault(name, places) || (needed !== undefined && hasFault(needed, places))) return;
    faults.add(describeFault({ name, message }, places));
  };
}

/** Returns whether the file has a fault at a setting. Its value is missing then, which is no fault of its own. */
export function hasFault(name: string, { configuration }: Pick<FaultPlaces, 'configuration'>): boolean {
  return Object.hasOwn(ENTRIES, name) && configuration.isFaulty(ENTRIES[name as FileSettingName].path);
}

/** Returns the fault with its place in the file, when the value comes from there or is missing there. */
function describeFault({ name, message }: Fault, { configuration, given }: FaultPlaces): string {
  const path = given[name] === undefined && configuration.file !== undefined ? findPath(name, configuration) : undefined;
  return path === undefined ? `${name}: ${message}` : configuration.describe(path, message);
}

/** Returns where the file has a setting, or would have it; undefined for what no file can hold, and for subgraphs that it does not name. */
function findPath(name: string, { subgraphs }: Pick<Configuration, 'subgraphs'>): string | undefined {
  if (Object.hasOwn(ENTRIES, name)) return ENTRIES[name as FileSettingName].path;
  for (const [key, { prefix }] of Object.entries(subgraphSettings)) {
    const subgraph = subgraphs.find((each) => `${prefix}${each.toUpperCase()}` === name);
    if (subgraph !== undefined) return `subgraphs.${subgraph}.${key}`;
  }
  return undefined;
}
