import { describe, expect, it } from '@jest/globals';
import { ORDERS, PRODUCTS, USERS, byService, composeSupergraph, prepare, runOnce, runOperation } from './test-execution.ts';

const WEIGHED = composeSupergraph({
  items: `type Query { items(n: Int @cost(weight: 5)): [Item] }
    type Item @key(fields: "id") { id: ID! parts: [Part!] } type Part { x: Int @cost(weight: 2) words: [String!] @cost(weight: 4) }`,
  notes: 'type Item @key(fields: "id") { id: ID! note(n: Int @cost(weight: 6)): String @cost(weight: 3) }',
});
const QUERY = 'query($n: Int, $a: Boolean!) { items(n: $n) { note(n: 1) parts @include(if: $a) { x words } } }';
const NOTES = '{"data":{"_entities":[{"note":"N"}]}}';
const PARTS = '"parts":[{"x":1,"words":["a","b"]},{"x":null,"words":null}]';

describe('the actual cost of a result that was assembled from bytes', () => {
  it('counts the objects of all fetches, and an entity at each of its places', async () => {
    const texts = byService({ users: USERS, orders: ORDERS, products: PRODUCTS });
    const { path, cost } = await runOnce('{ users { name orders { n product { title kind } } } }', texts);
    // Two users, three orders, three products, of which two are one entity.
    expect({ path, cost }).toEqual({ path: 'bytes', cost: 2 + 3 + 3 });
  });

  it.each([
    // An argument costs once, a leaf unless it is null, a list of leaves as one.
    ['weights of fields and arguments', { n: 1, a: true }, 5 + 2 + 2 + 2 + 4 + 2 * 9],
    ['no argument that is null', { n: null, a: true }, 2 + 2 + 2 + 4 + 2 * 9],
    ['no field whose condition is false', { n: 1, a: false }, 5 + 2 + 2 * 9],
  ])('counts %s', async (_, variables, expected) => {
    const parts = variables.a ? `,${PARTS}` : '';
    const none = variables.a ? ',"parts":[]' : '';
    const items = `{"data":{"items":[{"id":"1"${parts}},null,{"id":"1"${none}}]}}`;
    const { path, cost } = await runOperation(prepare(QUERY, WEIGHED), byService({ items, notes: NOTES }), variables);
    expect({ path, cost }).toEqual({ path: 'bytes', cost: expected });
  });

  it('counts an object below an interface or a union by the weight of its own type', async () => {
    const shapes = composeSupergraph({
      shapes: `type Query { node: Node all: [Any!] fixed: Node @cost(weight: 1) } interface Node { id: ID } union Any = A | B
        type A implements Node @cost(weight: 3) { id: ID } type B implements Node @cost(weight: 9) { id: ID }`,
    });
    const text =
      '{"data":{"node":{"__typename":"B","id":"1"},"all":[{"__typename":"A"},{"__typename":"B"}],"fixed":{"__typename":"B","id":"1"}}}';
    const { path, cost } = await runOperation(prepare('{ node { id } all { __typename } fixed { id } }', shapes), () => text, {});
    expect({ path, cost }).toEqual({ path: 'bytes', cost: 9 + (3 + 9) + 1 });
  });

  it('counts a mutation', async () => {
    const { cost } = await runOnce('mutation { rename(name: "A") { name } }', () => '{"data":{"rename":{"name":"A"}}}');
    expect(cost).toBe(11);
  });

  it('counts again when the arena or the buffer of the result was too small', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `{"id":"${i}","name":"${'x'.repeat(50)}"}`);
    const { path, cost } = await runOnce('{ users { id name } }', () => `{"data":{"users":[${names.join()}]}}`);
    expect({ path, cost }).toEqual({ path: 'bytes', cost: 3000 });
  });
});
