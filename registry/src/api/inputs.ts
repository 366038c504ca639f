/** The inputs of the mutations in registry.graphql, as GraphQL coerces them. */
import type { ContractRequest, DeleteContractRequest } from '../publishing/change-contract.ts';
import type { PublishRequest } from '../publishing/publish.ts';
import type { PromoteRequest, ReturnRequest, RollbackRequest } from '../publishing/release.ts';
import type { ApprovalRequest, CheckRequest } from '../checks/check.ts';
import type { NewToken } from '../tokens/create-token.ts';
import type { PushRequest } from './push-operations.ts';
import type { RemoveRequest } from './remove-operations.ts';

interface Input<T> {
  readonly input: T;
}

export type PublishInput = Input<Omit<PublishRequest, 'actor' | 'deleted'>>;
export type DeleteInput = Input<Omit<PublishRequest, 'actor' | 'deleted' | 'subgraphs'> & { readonly subgraphs: readonly string[] }>;
export type CheckInput = Input<Omit<CheckRequest, 'actor'>>;
export type ApproveInput = Input<Omit<ApprovalRequest, 'actor'>>;
export type RollbackInput = Input<Omit<RollbackRequest, 'actor'>>;
export type PromoteInput = Input<Omit<PromoteRequest, 'actor' | 'mayUse'>>;
export type ReturnCanaryInput = Input<Omit<ReturnRequest, 'actor'>>;
export type PushInput = Input<PushRequest>;
export type RemoveInput = Input<RemoveRequest>;
export type CreateTokenInput = Input<NewToken>;
export type ContractInput = Input<Omit<ContractRequest, 'actor'>>;
export type DeleteContractInput = Input<Omit<DeleteContractRequest, 'actor'>>;
