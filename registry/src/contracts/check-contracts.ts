/** What a proposed graph would do to the contracts of its environment. */
import type { Composer } from '../composition/composer.ts';
import type { Release } from '../records.ts';
import type { Store } from '../store.ts';
import type { ContractsTask, MadeContract } from '../composition/contract-task.ts';

/** What contracts are made with, and what their changes are decided by. */
export interface CheckParts {
  readonly store: Store;
  readonly composer: Composer;
  readonly decideBy: NonNullable<ContractsTask['decideBy']>;
}

/** Makes the contracts of a proposed supergraph, and compares each with what its clients see now. Writes nothing. */
export async function makeForCheck(
  supergraphSdl: string,
  current: Release | undefined,
  { store, composer, decideBy }: CheckParts,
): Promise<readonly MadeContract[]> {
  const released = current ? await store.listReleasedContracts(current) : [];
  if (released.length === 0) return [];
  const contracts = [];
  for (const { name, include, exclude, removeUnreachableTypes, schemaId } of released) {
    const currentApiSdl = (await store.findContractSchema(schemaId))?.apiSdl;
    contracts.push({ name, include, exclude, removeUnreachableTypes, currentApiSdl });
  }
  return composer.makeContracts({ supergraphSdl, contracts, decideBy });
}
