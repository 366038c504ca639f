/** Subgraphs and contracts for the tests of contracts. */
import { buildSchema, lexicographicSortSchema, printSchema } from 'graphql';
import { type SubgraphSource, composeGraph } from './compose.ts';
import type { ContractFilter } from './contract-filter.ts';
import { type Contract, makeContract } from './contracts.ts';

const HEAD = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])\n`;

/** Returns subgraphs that link the directives of federation. */
export function toSubgraphs(...sdls: string[]): SubgraphSource[] {
  return sdls.map((sdl, index) => ({ name: `s${String(index)}`, url: `http://s${String(index)}.example`, sdl: `${HEAD}${sdl}` }));
}

/** Returns the contract of subgraphs that compose. */
export function contractOf(sources: readonly SubgraphSource[], filter: Partial<ContractFilter>): Contract {
  const composition = composeGraph(sources, { secondOpinion: false });
  if (!composition.ok) throw new Error(composition.errors[0]?.message);
  return makeContract(composition.supergraphSdl, { include: [], exclude: [], ...filter });
}

/** Returns a schema in an order that does not depend on its source. */
export function sorted(sdl: string): string {
  return printSchema(lexicographicSortSchema(buildSchema(sdl)));
}

const USERS = `type Query { user: User @tag(name: "public") audit: Audit @tag(name: "internal") find(by: By, secret: String @tag(name: "internal")): [Hit] }
type User @key(fields: "id") { id: ID! @tag(name: "public") name: String @tag(name: "public") note: String @tag(name: "internal") rank: Rank }
type Audit { at: String entries: [Entry] } type Entry { text: String }
enum Rank { LOW HIGH TOP @tag(name: "internal") } input By { name: String token: String @tag(name: "internal") }
union Hit = User | Audit`;
const ORDERS = `type User @key(fields: "id") { id: ID! orders: [Order] @tag(name: "public") } type Order @tag(name: "public") { id: ID! total: Int }`;
/** Two subgraphs with tags at everything that can have one. */
export const SUBGRAPHS = toSubgraphs(USERS, ORDERS);
