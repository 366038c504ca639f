/** The settings of what the response cache keeps of subgraphs: for all, and below `subgraphs.<name>.responseCache` for single ones. */
import { SettingsError, type SettingReader, findFault, readFamily, setting } from '@trestle/env';
import { type CachingSettings, DEFAULT_CACHING, type SubgraphCaching } from '../../cache/subgraph-caching.ts';

/** A year is the longest that anything is cached. */
const seconds = () => setting.integer(0, 31_536_000);

/** The settings for all subgraphs. */
export const cacheSettings = {
  SUBGRAPH_CACHE_ENABLED: setting.onOff().default(DEFAULT_CACHING.all.enabled),
  SUBGRAPH_CACHE_TTL_SECONDS: seconds().default(DEFAULT_CACHING.all.ttlSeconds),
};

/** Those of one subgraph: the key in a configuration file, and the prefix of the environment variable. */
export const subgraphCacheSettings = {
  'responseCache.enabled': { prefix: 'SUBGRAPH_CACHE_ENABLED_', reader: setting.onOff() },
  'responseCache.ttlSeconds': { prefix: 'SUBGRAPH_CACHE_TTL_SECONDS_', reader: seconds() },
} as const satisfies Readonly<
  Record<`responseCache.${keyof SubgraphCaching}`, { readonly prefix: string; readonly reader: SettingReader }>
>;

interface CacheValues {
  readonly RESPONSE_CACHE: string;
  readonly RESPONSE_CACHE_CONTENTS: string;
  readonly SUBGRAPH_CACHE_ENABLED: boolean;
  readonly SUBGRAPH_CACHE_TTL_SECONDS: number;
}

/** The time of a whole result comes from the schema alone. */
const TTL_NEEDS_ENTITIES = 'SUBGRAPH_CACHE_TTL_SECONDS: responseCache.contents must be entities or both with ttlSeconds';

/** Returns the settings of all subgraphs. `env` has those of single ones. Throws SettingsError that names every invalid value. */
export function readCaching(values: CacheValues, env: Readonly<Record<string, string | undefined>>): CachingSettings {
  const bySubgraph = new Map<string, Partial<SubgraphCaching>>();
  const faults: string[] = [];
  for (const [key, { prefix, reader }] of Object.entries(subgraphCacheSettings))
    for (const [name, text] of readFamily(prefix, env)) {
      const fault = findFault(reader, text);
      if (fault === undefined) bySubgraph.set(name, { ...bySubgraph.get(name), [key.slice('responseCache.'.length)]: reader.parse(text) });
      else faults.push(`${prefix}${name.toUpperCase()}: ${fault}`);
    }
  const { RESPONSE_CACHE: store, RESPONSE_CACHE_CONTENTS: contents } = values;
  const all = { enabled: values.SUBGRAPH_CACHE_ENABLED, ttlSeconds: values.SUBGRAPH_CACHE_TTL_SECONDS };
  const hasTtl = [all, ...bySubgraph.values()].some(({ ttlSeconds = 0 }) => ttlSeconds > 0);
  if (hasTtl && store !== 'off' && contents === 'results') faults.push(TTL_NEEDS_ENTITIES);
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return { all, bySubgraph };
}
