/** Paths into the result of a fetch, and fields in it that get another name. */

/** Renames a field that was fetched under another response key. */
export interface KeyRename {
  /** Keys and `... on Type` conditions. */
  readonly path: readonly RenameSegment[];
  readonly to: string;
}

export type RenameSegment = { readonly key: string } | { readonly types: readonly string[] };
