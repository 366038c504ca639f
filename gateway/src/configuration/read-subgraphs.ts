/** Reads the settings that single subgraphs have beside those for all: traffic, what is cached of them, signatures, and their errors. */
import type { SettingsFaults, readSettings } from '@trestle/env';
import type { CachingSettings } from '../cache/subgraph-caching.ts';
import type { ErrorExtensions } from '../errors/extension-lists.ts';
import type { SubgraphErrorPolicy } from '../errors/format-error.ts';
import type { SubgraphSigning } from '../upstream/signing/signing-settings.ts';
import type { TrafficSettings } from '../upstream/traffic/traffic-settings.ts';
import { readCaching } from './settings/cache-settings.ts';
import { type ErrorPolicies, readErrorExtensions } from './settings/error-settings.ts';
import type { settings } from './settings/settings.ts';
import { readSigning } from './settings/signing-settings.ts';
import { readTraffic } from './settings/traffic-settings.ts';

type SettingValues = ReturnType<typeof readSettings<typeof settings>>;
type Values = Readonly<Record<string, string | undefined>>;

/** Each is undefined after a fault. */
export interface SubgraphReadings {
  readonly traffic: TrafficSettings | undefined;
  readonly caching: CachingSettings | undefined;
  readonly signing: SubgraphSigning | undefined;
  readonly errorExtensions: ErrorExtensions | undefined;
}

/** Returns them, and adds every fault. `env` has the settings of single subgraphs. */
export function readSubgraphs(
  values: SettingValues,
  env: Values,
  { policies, faults }: { readonly policies: ErrorPolicies; readonly faults: SettingsFaults },
): SubgraphReadings {
  return {
    traffic: faults.attempt(() => readTraffic(values, env)),
    caching: faults.attempt(() => readCaching(values, env)),
    signing: faults.attempt(() => readSigning(values, env)),
    errorExtensions: faults.attempt(() => readErrorExtensions(values, env, policies)),
  };
}

/** Returns the policy for all subgraphs. With authentication off they are the operator's own, and their clients know their codes. */
export function toErrorPolicy({
  SUBGRAPH_ERRORS: policy,
  AUTH: hasAuth,
}: Pick<SettingValues, 'SUBGRAPH_ERRORS' | 'AUTH'>): SubgraphErrorPolicy {
  return policy ?? (hasAuth ? 'mask' : 'pass');
}
