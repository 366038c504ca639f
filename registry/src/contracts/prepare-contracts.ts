/** Makes the contracts of a release before it is written, and keeps them with it. */
import type { Composer } from '../composition/composer.ts';
import type { CompositionProblem, Release } from '../records.ts';
import type { Store } from '../store.ts';
import { contractSchemaIdOf } from './contract-id.ts';
import type { Contract, ContractSchema, ReleasedContract } from '../contract-records.ts';

/** What contracts are made of. */
export interface ContractSources {
  readonly contracts: readonly Contract[];
  readonly launchId: string;
  readonly canaryLaunchId: string | null;
  /** The launch, when it is not kept yet. */
  readonly composed?: { readonly launchId: string; readonly supergraphSdl: string } | undefined;
}

/** The contracts of a release that is to be written, or why one of them cannot be made. */
export type PreparedContracts =
  | {
      readonly ok: true;
      /** Those that are not kept yet. */
      readonly schemas: readonly ContractSchema[];
      readonly released: readonly Pick<ReleasedContract, 'name' | 'version' | 'schemaId' | 'canarySchemaId'>[];
    }
  | { readonly ok: false; readonly problems: readonly CompositionProblem[] };

interface Options {
  readonly store: Store;
  readonly composer: Composer;
}

/** Makes the contracts, of the launch and of its canary. What was made once is not made again. Writes nothing. */
export async function prepareContracts(sources: ContractSources, options: Options): Promise<PreparedContracts> {
  const { contracts, launchId, canaryLaunchId } = sources;
  const schemas: ContractSchema[] = [];
  for (const each of canaryLaunchId === null ? [launchId] : [launchId, canaryLaunchId]) {
    const made = await makeMissing(each, sources, options);
    if (!Array.isArray(made)) return { ok: false, problems: made.problems };
    schemas.push(...made);
  }
  const released = contracts.map((contract) => ({
    ...{ name: contract.name, version: contract.version, schemaId: contractSchemaIdOf(launchId, contract) },
    canarySchemaId: canaryLaunchId === null ? null : contractSchemaIdOf(canaryLaunchId, contract),
  }));
  return { ok: true, schemas, released };
}

/** Returns the schemas of a launch that are not kept yet. */
async function makeMissing(
  launchId: string,
  { contracts, composed }: ContractSources,
  { store, composer }: Options,
): Promise<ContractSchema[] | { readonly problems: readonly CompositionProblem[] }> {
  const wanted = new Map(contracts.map((contract) => [contractSchemaIdOf(launchId, contract), contract]));
  if (wanted.size === 0) return [];
  for (const id of await store.listContractSchemaIds([...wanted.keys()])) wanted.delete(id);
  if (wanted.size === 0) return [];
  const source = composed?.launchId === launchId ? composed : await store.findLaunch(launchId);
  if (!source) throw new Error(`The launch ${launchId} does not exist`);
  const toMake = [...wanted.values()].map(({ name, include, exclude, removeUnreachableTypes }) => {
    return { name, include, exclude, removeUnreachableTypes };
  });
  const made = await composer.makeContracts({ supergraphSdl: source.supergraphSdl, contracts: toMake });
  const problems = made.flatMap((each) => (each.ok ? [] : each.problems));
  if (problems.length > 0) return { problems };
  const ids = [...wanted.keys()];
  return made.flatMap((each, at) =>
    each.ok ? [{ id: ids[at] ?? '', launchId, supergraphSdl: each.supergraphSdl, apiSdl: each.apiSdl }] : [],
  );
}

/** Keeps the contracts of a release, in the transaction that has written it and its launch. */
export async function keepContracts(
  release: Pick<Release, 'environment' | 'number'>,
  { schemas, released }: PreparedContracts & { readonly ok: true },
  store: Store,
): Promise<void> {
  for (const schema of schemas) await store.insertContractSchema(schema);
  for (const contract of released) await store.insertReleasedContract(release, contract);
}
