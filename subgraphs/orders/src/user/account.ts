/** Accounts, as far as this subgraph knows them: by id. Everything else belongs to the users subgraph. */

/** A reference to an account. Named by resolver-types.json. @public */
export interface Account {
  readonly id: string;
}
