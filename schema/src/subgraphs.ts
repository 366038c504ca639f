/** The table of subgraphs in this repository. Settings, databases and folders are named after the subgraph. */

interface SubgraphDefinition {
  /** Default of `<NAME>_PORT`; also the port of the subgraph's URL in the supergraph. */
  readonly port: number;
}

/** Maps the name of each subgraph, which is the name of its file in `schema/`, to its definition. docs/subgraphs.md lists what else a new entry needs. */
export const SUBGRAPHS = {
  users: { port: 4001 },
  orders: { port: 4002 },
  content: { port: 4003 },
} as const satisfies Record<string, SubgraphDefinition>;

/** Names one subgraph of the table. */
export type SubgraphName = keyof typeof SUBGRAPHS;
/** Lists the names of all subgraphs, in the order of the table. */
export const SUBGRAPH_NAMES = Object.keys(SUBGRAPHS) as readonly SubgraphName[];

type Upper<Name extends SubgraphName> = Uppercase<Name>;

/** Returns the name of the setting for the subgraph's port, such as `USERS_PORT`. */
export function portSettingOf<Name extends SubgraphName>(name: Name): `${Upper<Name>}_PORT` {
  return `${upper(name)}_PORT`;
}

/** Returns the name of the setting for the subgraph's database, such as `USERS_DATABASE_URL`. */
export function databaseSettingOf<Name extends SubgraphName>(name: Name): `${Upper<Name>}_DATABASE_URL` {
  return `${upper(name)}_DATABASE_URL`;
}

/** Returns the name of the setting that overrides the subgraph's URL of the supergraph, such as `SUBGRAPH_URL_USERS`. */
export function urlSettingOf<Name extends SubgraphName>(name: Name): `SUBGRAPH_URL_${Upper<Name>}` {
  return `SUBGRAPH_URL_${upper(name)}`;
}

/** Returns the name of the setting for the address of the subgraph's events, such as `EVENTS_URL_USERS`. */
export function eventsUrlSettingOf<Name extends SubgraphName>(name: Name): `EVENTS_URL_${Upper<Name>}` {
  return `EVENTS_URL_${upper(name)}`;
}

/** Returns an object that maps each subgraph to the value that `toValue` returns for it. */
export function eachSubgraph<T>(toValue: (name: SubgraphName) => T): Record<SubgraphName, T> {
  return Object.fromEntries(SUBGRAPH_NAMES.map((name) => [name, toValue(name)])) as Record<SubgraphName, T>;
}

function upper<Name extends SubgraphName>(name: Name): Upper<Name> {
  return name.toUpperCase() as Upper<Name>;
}
