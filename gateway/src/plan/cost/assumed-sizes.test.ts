import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { createAssumedSizes } from './assumed-sizes.ts';

const supergraph = buildSchema(`
  directive @join__field(graph: join__Graph, external: Boolean) repeatable on FIELD_DEFINITION
  directive @join__graph(name: String!, url: String!) on ENUM_VALUE
  directive @join__type(graph: join__Graph!) repeatable on OBJECT | INTERFACE
  enum join__Graph {
    USERS @join__graph(name: "Users", url: "")
    MY_ORDERS @join__graph(name: "my-orders", url: "")
    OTHER @join__graph(name: "constructor", url: "")
  }
  type Query @join__type(graph: USERS) @join__type(graph: MY_ORDERS) {
    users: [User] @join__field(graph: USERS)
    orders: [User] @join__field(graph: MY_ORDERS)
    both: [User] @join__field(graph: USERS) @join__field(graph: MY_ORDERS)
    taken: [User] @join__field(graph: USERS) @join__field(graph: MY_ORDERS, external: true)
    other: [User] @join__field(graph: OTHER)
    all: [User]
  }
  type User @join__type(graph: USERS) { tags: [User] }
`);

describe('createAssumedSizes', () => {
  const sizeOf = createAssumedSizes(supergraph, { all: 10, bySubgraph: { users: 3, 'my-orders': 50 } });

  it.each([
    ['Query', 'users', 3],
    ['Query', 'orders', 50],
    ['Query', 'both', 50],
    ['Query', 'taken', 3],
    ['Query', 'other', 10],
    ['Query', 'all', 50],
    ['User', 'tags', 3],
    ['User', 'missing', 3],
    ['Missing', 'tags', 10],
  ])('gives %s.%s the size of the subgraphs that resolve it', (type, field, size) => {
    expect(sizeOf({ type, field })).toBe(size);
  });

  it('gives every field the same size without sizes of single subgraphs', () => {
    expect(createAssumedSizes(supergraph, { all: 7, bySubgraph: {} })({ type: 'Query', field: 'users' })).toBe(7);
  });
});
