/** What the registry keeps of contracts, as its store returns it. */

/** What a contract selects: tags, in the order of their names, each once. */
export interface Filter {
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly removeUnreachableTypes: boolean;
}

/** A contract of an environment, or that it was deleted. */
export interface Contract extends Filter {
  readonly environment: string;
  readonly name: string;
  /** Counts the changes of the contract from 1 on. */
  readonly version: number;
  readonly isDeleted: boolean;
  readonly actor: string;
  readonly message: string | null;
  readonly createdAt: Date;
}

/** What a filter makes of a launch. */
export interface ContractSchema {
  /** Follows from the launch and the filter: see `contract-id.ts`. */
  readonly id: string;
  readonly launchId: string;
  readonly supergraphSdl: string;
  readonly apiSdl: string;
}

/** A contract as a release serves it. */
export interface ReleasedContract extends Contract {
  readonly schemaId: string;
  /** Of the canary of the release; null without one. */
  readonly canarySchemaId: string | null;
}
