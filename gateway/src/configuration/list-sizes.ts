/** The assumed sizes of lists of single subgraphs. No I/O. */
import { SettingsError, findFault, readFamily } from '@trestle/env';
import type { AssumedListSizes } from '../limits/limits.ts';
import { subgraphListSize } from './settings/limit-settings.ts';

/** Returns the sizes by the subgraph's name in lower case. Throws SettingsError that names every invalid value. */
export function readListSizes(env: Readonly<Record<string, string | undefined>>): AssumedListSizes['bySubgraph'] {
  const { prefix, reader } = subgraphListSize;
  const sizes: [string, number][] = [];
  const faults: string[] = [];
  for (const [name, text] of readFamily(prefix, env)) {
    const fault = findFault(reader, text);
    if (fault === undefined) sizes.push([name, reader.parse(text)]);
    else faults.push(`${prefix}${name.toUpperCase()}: ${fault}`);
  }
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return Object.fromEntries(sizes);
}
