/** The settings of the extensions of errors that clients see: for all subgraphs, and below `subgraphs.<name>.errorExtensions` for single ones. */
import { SettingsError, type SettingReader, findFault, readFamily, setting } from '@trestle/env';
import type { ErrorExtensions, ExtensionLists } from '../../errors/extension-lists.ts';
import type { SubgraphErrorPolicy } from '../../errors/format-error.ts';

const MAX_NAME_LENGTH = 128;
/** These belong to every error of the gateway. */
const ALWAYS_SHOWN: ReadonlySet<string> = new Set(['code', 'service', 'requestId']);

const names = (what: string) =>
  setting.list(
    (name) => name.length <= MAX_NAME_LENGTH && !(what === 'deny' && ALWAYS_SHOWN.has(name)),
    (name) =>
      name.length > MAX_NAME_LENGTH
        ? `must have names of at most ${String(MAX_NAME_LENGTH)} characters`
        : `must not have \`${name}\`: every error has it`,
  );

/** The settings for all subgraphs. */
export const errorSettings = {
  SUBGRAPH_ERROR_EXTENSIONS_ALLOW: names('allow').optional(),
  SUBGRAPH_ERROR_EXTENSIONS_DENY: names('deny').optional(),
};

/** Those of one subgraph: the key in a configuration file, and the prefix of the environment variable. */
export const subgraphErrorSettings = {
  'errorExtensions.allow': { prefix: 'SUBGRAPH_ERROR_EXTENSIONS_ALLOW_', reader: names('allow') },
  'errorExtensions.deny': { prefix: 'SUBGRAPH_ERROR_EXTENSIONS_DENY_', reader: names('deny') },
} as const satisfies Readonly<
  Record<`errorExtensions.${keyof ExtensionLists}`, { readonly prefix: string; readonly reader: SettingReader }>
>;

interface ErrorValues {
  readonly SUBGRAPH_ERROR_EXTENSIONS_ALLOW?: readonly string[] | undefined;
  readonly SUBGRAPH_ERROR_EXTENSIONS_DENY?: readonly string[] | undefined;
}

/** What clients see of errors, which decides whether a list has an effect. */
export interface ErrorPolicies {
  readonly all: SubgraphErrorPolicy;
  readonly bySubgraph: ReadonlyMap<string, SubgraphErrorPolicy>;
}

/** Returns the lists of all subgraphs. `env` has those of single ones. Throws SettingsError that names every invalid value, and those without an effect. */
export function readErrorExtensions(
  { SUBGRAPH_ERROR_EXTENSIONS_ALLOW: allow, SUBGRAPH_ERROR_EXTENSIONS_DENY: deny }: ErrorValues,
  env: Readonly<Record<string, string | undefined>>,
  policies: ErrorPolicies,
): ErrorExtensions {
  const bySubgraph = new Map<string, ExtensionLists>();
  const faults: string[] = [];
  for (const [key, { prefix, reader }] of Object.entries(subgraphErrorSettings))
    for (const [name, text] of readFamily(prefix, env)) {
      const fault = findFault(reader, text) ?? findIdle(policies.bySubgraph.get(name) ?? policies.all);
      if (fault === undefined)
        bySubgraph.set(name, { ...bySubgraph.get(name), [key.slice('errorExtensions.'.length)]: new Set(reader.parse(text)) });
      else faults.push(`${prefix}${name.toUpperCase()}: ${fault}`);
    }
  const isEveryMasked = [policies.all, ...policies.bySubgraph.values()].every((policy) => policy === 'mask');
  for (const [name, list] of Object.entries({ SUBGRAPH_ERROR_EXTENSIONS_ALLOW: allow, SUBGRAPH_ERROR_EXTENSIONS_DENY: deny }))
    if (list && isEveryMasked) faults.push(`${name}: ${NEEDS_POLICY}`);
  if (faults.length > 0) throw new SettingsError(faults.join('\n'));
  return { all: { allow: toSet(allow), deny: toSet(deny) }, bySubgraph };
}

const NEEDS_POLICY = 'needs errors.show: codes or pass (SUBGRAPH_ERRORS): mask shows no extensions of a subgraph';

/** Returns why a list has no effect; undefined when it has one. */
function findIdle(policy: SubgraphErrorPolicy): string | undefined {
  return policy === 'mask' ? NEEDS_POLICY : undefined;
}

function toSet(list: readonly string[] | undefined): ReadonlySet<string> | undefined {
  return list && new Set(list);
}
