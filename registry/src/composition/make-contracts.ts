/** Makes contracts of a supergraph, and compares them for a check. CPU-bound: runs in the thread of composition. No I/O. */
import { makeContract } from '@trestle/graph-checks/contracts';
import { buildSchema } from 'graphql';
import { compareSchemas } from './compare-schemas.ts';
import type { ContractToMake, ContractsTask, MadeContract } from './contract-task.ts';

/** A contract may be impossible for as many reasons as a schema has fields. */
const MAX_PROBLEMS = 20;

/** Makes the contracts of a task. Does not throw for filters that leave no valid schema. */
export async function makeContracts({ supergraphSdl, contracts, decideBy }: ContractsTask): Promise<MadeContract[]> {
  const made: MadeContract[] = [];
  for (const contract of contracts) made.push(await makeOne(supergraphSdl, contract, decideBy));
  return made;
}

async function makeOne(
  supergraphSdl: string,
  { name, currentApiSdl, ...filter }: ContractToMake,
  decideBy: ContractsTask['decideBy'],
): Promise<MadeContract> {
  const contract = makeContract(supergraphSdl, filter);
  if (!contract.ok) {
    const problems = contract.errors.slice(0, MAX_PROBLEMS).map(({ code, message }) => {
      return { code, message: `The contract \`${name}\` cannot be made: ${message}`, places: [] };
    });
    return { ok: false, name, problems };
  }
  const { supergraphSdl: contractSdl, apiSdl } = contract;
  const after = buildSchema(apiSdl, { assumeValidSDL: true });
  const compared = await compareSchemas({ apiSdl: currentApiSdl, ...decideBy, contract: name }, { api: after, supergraphSdl: contractSdl });
  return { ok: true, name, supergraphSdl: contractSdl, apiSdl, ...compared };
}
