/** The resolvers of contracts in registry.graphql. */
import type { RegistryContext } from './context.ts';
import type { ContractInput, DeleteContractInput } from './inputs.ts';
import type { Check, Release } from '../records.ts';
import { actorOf, requireAccess } from '../tokens/access.ts';
import { type ContractResult, createContract, deleteContract, updateContract } from '../publishing/change-contract.ts';
import type { ContractSchema, ReleasedContract } from '../contract-records.ts';

type Context = RegistryContext;
/** Returns who acts, when the token may change contracts of the environment. */
async function admit(environment: string, { requireToken }: Context): Promise<string> {
  const token = await requireToken();
  requireAccess(token, { scopes: ['CONTRACT'], environments: [environment] });
  return actorOf(token);
}

async function create(_: unknown, { input }: ContractInput, context: Context) {
  return createContract({ ...input, actor: await admit(input.environment, context) }, context.registry);
}

async function update(_: unknown, { input }: ContractInput, context: Context) {
  return updateContract({ ...input, actor: await admit(input.environment, context) }, context.registry);
}

async function remove(_: unknown, { input }: DeleteContractInput, context: Context) {
  return deleteContract({ ...input, actor: await admit(input.environment, context) }, context.registry);
}

async function readSchema({ schemaId }: ReleasedContract, { store }: Context): Promise<ContractSchema> {
  const schema = await store.findContractSchema(schemaId);
  if (!schema) throw new Error(`The schema ${schemaId} of a released contract does not exist`);
  return schema;
}

const listContracts = (release: Release, _: unknown, { store }: Context) => store.listReleasedContracts(release);
const findContract = (release: Release, { name }: { readonly name: string }, { store }: Context) =>
  store.findReleasedContract(release, name);

/** The resolvers by type. An environment is represented by its current release. */
export const contractResolvers = {
  Mutation: { createContract: create, updateContract: update, deleteContract: remove },
  Environment: { contracts: listContracts, contract: findContract },
  Release: { contracts: listContracts },
  Contract: {
    supergraphSdl: async (contract: ReleasedContract, _: unknown, context: Context) => (await readSchema(contract, context)).supergraphSdl,
    apiSdl: async (contract: ReleasedContract, _: unknown, context: Context) => (await readSchema(contract, context)).apiSdl,
  },
  ContractResult: {
    contract: ({ release, name }: ContractResult, _: unknown, { store }: Context) =>
      release ? store.findReleasedContract(release, name) : null,
  },
  /** Checks that are older than contracts have none. */
  Check: { contracts: ({ result }: Check) => result.contracts ?? [] },
};
