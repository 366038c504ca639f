import { expect, it } from '@jest/globals';
import { createFaultSearch } from './fault-service.ts';
import { composeSupergraph, prepare } from './bytes/test-execution.ts';

const sdl = composeSupergraph({
  shops: `type Query { shops: [Shop!]! shared: Shared @shareable } type Shared { a: Int }
    type Shop @key(fields: "id") { id: ID! items: [Item!]! } type Item @key(fields: "id", resolvable: false) { id: ID! }`,
  items:
    'type Item @key(fields: "id") { id: ID! price: Int sizes: [Int!] } type Query { shared: Shared @shareable } type Shared { b: Int }',
});
const { program } = prepare('{ shops { id items { id price sizes } } shared { a b } }', sdl);

it.each([
  ['a field at the root', ['shops'], 'shops'],
  ['a field below the root', ['shops', 3, 'id'], 'shops'],
  ['a field of an entity of another subgraph', ['shops', 3, 'items', 1, 'price'], 'items'],
  ['an element of a list of such an entity', ['shops', 0, 'items', 0, 'sizes', 2], 'items'],
  ['a field that only the first subgraph has sent of such an entity', ['shops', 0, 'items', 0, 'id'], 'shops'],
  ['a field of an object that two subgraphs have', ['shared', 'a'], undefined],
  ['a field that no fetch has', ['other'], undefined],
])('finds the subgraph that has sent %s', (_, path, service) => {
  expect(createFaultSearch(program)(path)).toBe(service);
});
