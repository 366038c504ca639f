/** A supergraph whose field `tide` needs a fetch after that of its harbour, for scenarios about results in parts. */
import type { SubgraphSource } from './federation.ts';

export const TIDES: Readonly<Record<'harbours' | 'tides', SubgraphSource>> = {
  harbours: {
    sdl: 'type Query { harbour: Harbour! } type Harbour @key(fields: "code") { code: ID! }',
    resolvers: { Query: { harbour: () => ({ code: 'HAM' }) } },
  },
  tides: {
    sdl: 'type Harbour @key(fields: "code") { code: ID! tide: Float }',
    resolvers: { Harbour: { __resolveReference: (key: object) => key, tide: () => 1.5 } },
  },
};
