/** An account as this subgraph knows it: by its id; all else of it is told by the users subgraph. */

export interface Account {
  readonly id: string;
}
