/** What a configuration file and the command line add to a setting: where it stands, what it means, and when a change takes effect. */
import type { settings } from '../settings/settings.ts';

/** `now`: a change of the file is applied to the running process. `start`: it takes effect at the next start. */
export type Effect = 'now' | 'start';

export interface Entry {
  /** The keys in a configuration file, separated by dots. */
  readonly path: string;
  readonly about: string;
  readonly effect: Effect;
  /** The name of a flag, without dashes. */
  readonly flag?: string;
  /** What stands for the value of the flag in the help. */
  readonly placeholder?: string;
  /** An environment variable that takes precedence over that of the setting. */
  readonly stronger?: SettingName;
  /** The default, where it depends on other settings. */
  readonly otherwise?: string;
}

/** The name of a setting: that of its environment variable. */
export type SettingName = keyof typeof settings;

/** Settings that a file cannot hold: what names the file, and the second names of others. */
type OutsideOfFiles = 'TRESTLE_CONFIG' | 'PORT' | 'SUPERGRAPH_PATH';

/** The settings that a file can hold. */
export type FileSettingName = Exclude<SettingName, OutsideOfFiles>;

/** Adds the fault of a setting, unless the file has another fault at it, or at the setting `needed` that the fault says is missing. */
export type AddFault = (name: string, message: string, needed?: FileSettingName) => void;

type Extra = Omit<Entry, 'path' | 'about' | 'effect'>;

/** Returns the entry of a setting whose change takes effect at the next start. */
export const atStart = (path: string, about: string, extra: Extra = {}): Entry => ({ path, about, effect: 'start', ...extra });
/** Returns the entry of a setting whose change takes effect at once. */
export const atOnce = (path: string, about: string, extra: Extra = {}): Entry => ({ path, about, effect: 'now', ...extra });
