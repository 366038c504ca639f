/** Supergraphs whose fetches are written differently for the bytes executor than the planner writes them. */
import { expect, it } from '@jest/globals';
import { composeSupergraph, prepare, runOperation } from './test-execution.ts';

it('a condition whose requirement is selected anyway leaves no variable behind that nothing uses (GraphQL §5.8.4)', async () => {
  const shop = composeSupergraph({
    a: 'type Query { product: Product } type Product @key(fields: "id") { id: ID! price: Float }',
    b: 'type Product @key(fields: "id") { id: ID! price: Float @external isExpensive: Boolean @requires(fields: "price") }',
  });
  const operation = prepare('query ($isShown: Boolean = false) { product { price isExpensive @include(if: $isShown) } }', shop);
  const asked = await runOperation(operation, () => '{"data":{"product":{"id":"1","price":2}}}');
  expect(asked.result).toBe('{"data":{"product":{"price":2}}}');
  expect(asked.sent).toEqual(['a {product{id price}}']);
  const shown = await runOperation(
    operation,
    ({ service }) =>
      service === 'a'
        ? '{"data":{"product":{"__typename":"Product","id":"1","price":2}}}'
        : '{"data":{"_entities":[{"isExpensive":true}]}}',
    { isShown: true },
  );
  expect(shown.result).toBe('{"data":{"product":{"price":2,"isExpensive":true}}}');
});

it('the objects of an interface without object types, which another subgraph has as an interface object, get all fields', async () => {
  const nodes = composeSupergraph({
    a: 'type Query { a: Node } interface Node @key(fields: "id", resolvable: false) { id: ID! }',
    b: 'type Query { b: Node } type Node @interfaceObject @key(fields: "id", resolvable: false) { id: ID! field: String }',
  });
  const { sent, result } = await runOperation(prepare('{ b { id field } }', nodes), () => '{"data":{"b":{"id":"n1","field":"foo"}}}');
  expect(sent).toEqual(['b {b{id field}}']);
  expect(result).toBe('{"data":{"b":{"id":"n1","field":"foo"}}}');
});
