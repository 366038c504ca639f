/** What the thread of composition is asked about contracts, and its answers. */
import type { UsagePolicy } from '@trestle/graph-checks/policy';
import type { RecordedUsage } from '@trestle/graph-checks/usage';
import type { CompositionProblem, SchemaChange, UnlistedChange } from '../records.ts';
import type { Filter } from '../contract-records.ts';

/** A contract to make. */
export interface ContractToMake extends Filter {
  readonly name: string;
  /** For a check: the schema that the contract's clients see now. */
  readonly currentApiSdl?: string | undefined;
}

/** A supergraph, and the contracts to make of it. */
export interface ContractsTask {
  readonly supergraphSdl: string;
  readonly contracts: readonly ContractToMake[];
  /** For a check: what clients sent. Usage is that of the environment, so that it has the clients of all contracts. */
  readonly decideBy?: { readonly usage: RecordedUsage | undefined; readonly policy: UsagePolicy };
}

/** A contract that was made, with its changes if the task compares; or why it cannot be made. */
export type MadeContract =
  | {
      readonly ok: true;
      readonly name: string;
      readonly supergraphSdl: string;
      readonly apiSdl: string;
      readonly changes: readonly SchemaChange[];
      readonly unlisted: readonly UnlistedChange[];
    }
  | { readonly ok: false; readonly name: string; readonly problems: readonly CompositionProblem[] };
