/** The subgraphs of this repository: one row each. All other names of a subgraph follow from its name. */

interface SubgraphRow {
  /** Where it listens unless `<NAME>_PORT` says otherwise; the supergraph has this port in the subgraph's address. */
  readonly port: number;
}

/** By the name of the file in `schema/`. docs/subgraphs.md says what else a new entry needs. */
export const SUBGRAPHS = {
  users: { port: 4001 },
  orders: { port: 4002 },
  content: { port: 4003 },
} as const satisfies Record<string, SubgraphRow>;

export type SubgraphName = keyof typeof SUBGRAPHS;
export const SUBGRAPH_NAMES = Object.keys(SUBGRAPHS) as readonly SubgraphName[];

type Upper<Name extends SubgraphName> = Uppercase<Name>;

/** The setting that names the subgraph's port, e.g. `USERS_PORT`. */
export function portSettingOf<Name extends SubgraphName>(name: Name): `${Upper<Name>}_PORT` {
  return `${upper(name)}_PORT`;
}

/** The setting that names the subgraph's database, e.g. `USERS_DATABASE_URL`. */
export function databaseSettingOf<Name extends SubgraphName>(name: Name): `${Upper<Name>}_DATABASE_URL` {
  return `${upper(name)}_DATABASE_URL`;
}

/** The setting by which the gateway finds the subgraph elsewhere than the supergraph says, e.g. `SUBGRAPH_URL_USERS`. */
export function urlSettingOf<Name extends SubgraphName>(name: Name): `SUBGRAPH_URL_${Upper<Name>}` {
  return `SUBGRAPH_URL_${upper(name)}`;
}

/** Returns an object with a value for each subgraph. */
export function eachSubgraph<T>(make: (name: SubgraphName) => T): Record<SubgraphName, T> {
  return Object.fromEntries(SUBGRAPH_NAMES.map((name) => [name, make(name)])) as Record<SubgraphName, T>;
}

function upper<Name extends SubgraphName>(name: Name): Upper<Name> {
  return name.toUpperCase() as Upper<Name>;
}
