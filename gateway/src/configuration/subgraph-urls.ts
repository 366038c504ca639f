/** The settings of subgraphs with several addresses. */
import { SettingsError, findFault, readFamily } from '@trestle/env';
import type { Configuration } from './load-configuration.ts';
import { subgraphSettings } from './settings/settings.ts';

type Values = Readonly<Record<string, string | undefined>>;

/**
 * Returns the lists of addresses by the subgraph's name in lower case. Throws SettingsError that names every invalid list, and
 * every subgraph that has a single address too.
 */
export function readUrlLists(env: Values, { subgraphs, describe }: Configuration): Map<string, readonly string[]> {
  const { url, urls } = subgraphSettings;
  const single = readFamily(url.prefix, env);
  const lists = new Map<string, readonly string[]>();
  const faults: string[] = [];
  for (const [name, text] of readFamily(urls.prefix, env)) {
    const fault = findFault(urls.reader, text) ?? (single.has(name) ? 'must not be set beside `url`' : undefined);
    const written = subgraphs.find((each) => each.toLowerCase() === name);
    if (fault === undefined) lists.set(name, urls.reader.parse(text));
    else if (written === undefined) faults.push(`${urls.prefix}${name.toUpperCase()}: ${fault}`);
    else faults.push(describe(`subgraphs.${written}.urls`, fault));
  }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return lists;
}
