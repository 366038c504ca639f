/** Creates, changes and deletes contracts. Each change is a release of the environment, so that gateways learn of it as of a publish. */
import type { Query } from '@trestle/chassis/database/query';
import { fail } from '@trestle/schema/errors';
import { checkEnvironment, checkText } from './input-rules.ts';
import { MESSAGE_LENGTH, type Publishing } from './publish.ts';
import type { CompositionProblem, Release } from '../records.ts';
import { type Store, createStore } from '../store.ts';
import { checkContractName, readFilter } from '../contracts/contract-input.ts';
import type { Contract, Filter } from '../contract-records.ts';
import { keepContracts, prepareContracts } from '../contracts/prepare-contracts.ts';

/** How many contracts an environment may have: each publish makes all of them. */
const MAX_CONTRACTS = 20;

/** A contract to create or to change. */
export interface ContractRequest {
  readonly environment: string;
  readonly name: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly removeUnreachableTypes: boolean;
  readonly message?: string | null | undefined;
  readonly actor: string;
}

/** A contract to delete. */
export type DeleteContractRequest = Pick<ContractRequest, 'environment' | 'name' | 'message' | 'actor'>;

/** What has become of a change. */
export interface ContractResult {
  /** The release that serves the contract; null when it cannot be made. */
  readonly release: Release | null;
  readonly name: string;
  readonly isUnchanged: boolean;
  readonly problems: readonly CompositionProblem[];
}

/**
 * Creates a contract, if it can be made of what the environment serves. Throws VALIDATION_ERROR for invalid input, NOT_FOUND for an unknown
 * environment, CONFLICT when the contract exists, and BUSINESS_RULE_VIOLATION when the environment has as many as it may.
 */
export function createContract(request: ContractRequest, publishing: Publishing): Promise<ContractResult> {
  return change(request, publishing, (current, others) => {
    if (current) throw fail('CONFLICT', `The contract \`${request.name}\` exists already. Change it, or choose another name.`);
    if (others.length >= MAX_CONTRACTS)
      throw fail('BUSINESS_RULE_VIOLATION', `The environment has ${String(MAX_CONTRACTS)} contracts, which is the limit.`);
  });
}

/** Changes the tags of a contract, if it can be made with them. Throws as `createContract`, and NOT_FOUND for an unknown contract. */
export function updateContract(request: ContractRequest, publishing: Publishing): Promise<ContractResult> {
  return change(request, publishing, (current) => {
    if (!current) throw unknownContract(request);
  });
}

/** Deletes a contract. Returns the release without it. Throws NOT_FOUND. */
export async function deleteContract(request: DeleteContractRequest, publishing: Publishing): Promise<Release> {
  checkRequest(request);
  const { environment, name, actor, message } = request;
  const write = async (query: Query): Promise<Release> => {
    const store = createStore(query);
    const { release, contracts } = await lockAndRead(environment, store);
    const current = contracts.find((contract) => contract.name === name);
    if (!current) throw unknownContract(request);
    const deleted = { ...current, version: current.version + 1, isDeleted: true, actor, message: message ?? null };
    const others = contracts.filter((contract) => contract !== current);
    const result = await releaseContract({ release, contracts: others, changed: deleted }, { store, composer: publishing.composer });
    if (!result.release) throw new Error('Contracts that were made before cannot be made');
    return result.release;
  };
  const release = await publishing.takeTurn(() => publishing.database.transact(write));
  publishing.onRelease(release);
  return release;
}

type Require = (current: Contract | undefined, others: readonly Contract[]) => void;

async function change(request: ContractRequest, publishing: Publishing, require: Require): Promise<ContractResult> {
  checkRequest(request);
  const filter = readFilter(request);
  const { environment, name, actor, message } = request;
  const write = async (query: Query): Promise<ContractResult> => {
    const store = createStore(query);
    const { release, contracts } = await lockAndRead(environment, store);
    const current = contracts.find((contract) => contract.name === name);
    const others = contracts.filter((contract) => contract !== current);
    require(current, others);
    if (current && isSame(current, filter)) return { release, name, isUnchanged: true, problems: [] };
    const version = ((await store.findContract(environment, name))?.version ?? 0) + 1;
    const changed = { environment, name, version, ...filter, isDeleted: false, actor, message: message ?? null, createdAt: new Date() };
    return releaseContract({ release, contracts: [...others, changed], changed }, { store, composer: publishing.composer });
  };
  const result = await publishing.takeTurn(() => publishing.database.transact(write));
  if (result.release && !result.isUnchanged) publishing.onRelease(result.release);
  return result;
}

interface ContractRelease {
  /** The current release. */
  readonly release: Release;
  /** The contracts that are served from now on. */
  readonly contracts: readonly Contract[];
  readonly changed: Contract;
}

/** Writes the contract and the release that serves it, with the launches of the current one. */
async function releaseContract(
  { release: current, contracts, changed }: ContractRelease,
  options: { readonly store: Store; readonly composer: Publishing['composer'] },
): Promise<ContractResult> {
  const { store } = options;
  const { environment, number, launchId, canaryLaunchId, canaryPercent } = current;
  const { name, actor, message } = changed;
  const prepared = await prepareContracts({ contracts, launchId, canaryLaunchId }, options);
  if (!prepared.ok) return { release: null, name, isUnchanged: false, problems: prepared.problems };
  await store.insertContract(changed);
  const release = await store.insertRelease({
    ...{ environment, number: number + 1, launchId, action: 'CONTRACT', promotedFrom: null, actor, message },
    ...{ canaryLaunchId, canaryPercent },
  });
  await keepContracts(release, prepared, store);
  return { release, name, isUnchanged: false, problems: [] };
}

/** Waits for the other writers of the environment. */
async function lockAndRead(environment: string, store: Store): Promise<{ readonly release: Release; readonly contracts: Contract[] }> {
  await store.lockEnvironment(environment);
  const release = await store.findCurrentRelease(environment);
  if (!release) throw fail('NOT_FOUND', `The environment \`${environment}\` does not exist.`);
  return { release, contracts: await store.listContracts(environment) };
}

function checkRequest({ environment, name, message }: DeleteContractRequest): void {
  checkEnvironment(environment);
  checkContractName(name);
  checkText(message ?? '', MESSAGE_LENGTH);
}

function isSame(contract: Filter, filter: Filter): boolean {
  const key = ({ include, exclude, removeUnreachableTypes }: Filter) => JSON.stringify([include, exclude, removeUnreachableTypes]);
  return key(contract) === key(filter);
}

function unknownContract({ environment, name }: DeleteContractRequest) {
  return fail('NOT_FOUND', `The environment \`${environment}\` has no contract \`${name}\`.`);
}
