/** What is known of one change of a public schema. */

/** How much a change can harm a client that uses what it changes. */
export type ChangeLevel = 'breaking' | 'dangerous' | 'safe';

/** Describes one change of the public schema. */
export interface SchemaChange {
  /** The library's name of the change, such as `FIELD_REMOVED`. */
  readonly type: string;
  readonly level: ChangeLevel;
  /** Schema coordinate of what changed (GraphQL RFC "Schema Coordinates"), or the name of the schema's root. */
  readonly coordinate: string;
  readonly message: string;
  /** Keys of uses (operation-uses.ts) of which an operation needs one to be affected. */
  readonly affects: readonly string[];
  /** Whether it concerns what clients send: input types and arguments. */
  readonly isInput: boolean;
  /** Whether it adds a value to an enum, or a type to a union or an interface. */
  readonly isAddition: boolean;
}
