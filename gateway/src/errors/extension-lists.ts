/** Which extensions of errors clients see, by lists of an operator. No I/O. */

/** The lists of one subgraph. */
export interface ExtensionLists {
  /** Extensions that are shown; undefined for all, as far as the policy goes. */
  readonly allow?: ReadonlySet<string> | undefined;
  /** Extensions that are not shown, also if they are allowed; undefined for none. */
  readonly deny?: ReadonlySet<string> | undefined;
}

/** The lists of all subgraphs. */
export interface ErrorExtensions {
  readonly all: ExtensionLists;
  /** Those that take the place of lists for all, by the subgraph's name in lower case. */
  readonly bySubgraph: ReadonlyMap<string, ExtensionLists>;
}

/** What holds without a setting. */
export const NO_LISTS: ErrorExtensions = { all: {}, bySubgraph: new Map() };

/** Returns the lists of a subgraph. */
export function listsOf(name: string, { all, bySubgraph }: ErrorExtensions): ExtensionLists {
  const own = bySubgraph.get(name.toLowerCase());
  return own ? { ...all, ...own } : all;
}

/** Returns whether the lists show an extension. */
export function isListed(name: string, { allow, deny }: ExtensionLists): boolean {
  return (allow === undefined || allow.has(name)) && deny?.has(name) !== true;
}
