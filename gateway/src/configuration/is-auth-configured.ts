/** Whether an operator has said anything about credentials. */
import { ENTRIES } from './entries/entries.ts';
import type { FileSettingName } from './entries/entry.ts';

const SECTIONS = /^(?:authentication|authorization)\./;
const SETTINGS = (Object.keys(ENTRIES) as FileSettingName[]).filter((name) => SECTIONS.test(ENTRIES[name].path));
/** Addresses that only clients of the same machine reach. */
const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|localhost)$/;
/** A graph that the environment names has a file. */
const GRAPH = 'GRAPH_CONFIG_';

/**
 * Returns whether there is a configuration file or a setting of authentication, or an address that other machines reach. Without them a supergraph is
 * enough for a first start, and credentials are not checked. With them authentication stays on, so that a process that has lost its keys does not start
 * without the check.
 */
export function isAuthConfigured(given: Readonly<Record<string, string>>, { file }: { readonly file: string | undefined }): boolean {
  if (file !== undefined || Object.keys(given).some((name) => name.startsWith(GRAPH))) return true;
  return !LOOPBACK.test(given['HOST'] ?? '127.0.0.1') || SETTINGS.some((name) => given[name] !== undefined);
}
