/** A supergraph with live data that spans two subgraphs, for scenarios about subscriptions. */
import type { SubgraphSource } from './federation.ts';
import { type Topic, createTopic } from './topic.ts';

export interface Ship {
  readonly id: string;
  readonly name: string;
}

export interface Harbours {
  readonly sources: Readonly<Record<string, SubgraphSource>>;
  /** Ships that come in; `Ship.cargo` is the other subgraph's. */
  readonly arrivals: Topic<Ship | Error>;
  readonly secrets: Topic<Ship>;
}

export const ARRIVALS = 'subscription Arrivals { arrived { id name cargo } }';

export function createHarbours(): Harbours {
  const arrivals = createTopic<Ship | Error>();
  const secrets = createTopic<Ship>();
  return {
    arrivals,
    secrets,
    sources: {
      harbours: {
        sdl: `
          type Query { ships: [Ship!]! }
          type Subscription { arrived(harbour: ID): Ship seen: Ship @tag(name: "public") whispered: Ship }
          type Ship @key(fields: "id") { id: ID! @tag(name: "public") name: String! @tag(name: "public") whoAsked: String }`,
        resolvers: {
          Query: { ships: () => [] },
          Subscription: {
            arrived: { subscribe: () => arrivals.listen(), resolve: (said: Ship | Error) => said },
            seen: { subscribe: () => arrivals.listen(), resolve: (said: Ship | Error) => said },
            whispered: {
              subscribe: (_: unknown, __: unknown, context: Record<string, unknown> | undefined) => {
                if (context?.['authorization'] === undefined) throw new Error('Only for those who have a credential');
                return secrets.listen();
              },
              resolve: (said: Ship) => said,
            },
          },
          Ship: {
            whoAsked: (_: unknown, __: unknown, context: Record<string, unknown> | undefined) => context?.['authorization'] ?? null,
          },
        },
      },
      cargoes: {
        sdl: `type Query { cargo: String } type Ship @key(fields: "id") { id: ID! cargo: String }`,
        resolvers: {
          Query: { cargo: () => 'grain' },
          Ship: { __resolveReference: (key: object) => key, cargo: ({ id }: Ship) => `cargo of ${id}` },
        },
      },
    },
  };
}
