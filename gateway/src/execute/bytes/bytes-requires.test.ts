import { describe, expect, it } from '@jest/globals';
import { composeSupergraph, createRunner, prepare, respond } from './test-execution.ts';

describe('an entity whose fields another subgraph requires', () => {
  const STOCK = composeSupergraph({
    list: 'type Query { items: [Item] } type Item @key(fields: "id") { id: ID! }',
    prices: 'type Item @key(fields: "id") { id: ID! price: Int unit: Unit! } type Unit @shareable { name: String }',
    freight: `type Item @key(fields: "id") { id: ID! price: Int @external unit: Unit! @external
      freight: Int @requires(fields: "price unit { name }") } type Unit @shareable { name: String }`,
  });
  const texts: Record<string, string> = {
    list: '{"data":{"items":[{"id":"1"},null,{"id":"2"},{"id":"1"}]}}',
    prices: '{"data":{"_entities":[{"price":5,"unit":{"name":"kg"},"id":"1"},{"price":null,"unit":{"name":null},"id":"2"}]}}',
    freight: '{"data":{"_entities":[{"freight":10},{"freight":20}]}}',
  };
  const run = async (query: string, own: Record<string, string> = {}) => {
    const { run: execute, paths } = createRunner();
    const sent: unknown[] = [];
    const result = await execute(prepare(query, STOCK), (fetch, done) => {
      const { variables } = JSON.parse(fetch.body) as { variables: { representations?: unknown } };
      sent.push(variables.representations);
      respond(fetch, done, ({ service }) => own[service] ?? texts[service] ?? '');
    });
    return { result, path: paths.join(), sent };
  };

  it('is found in the response of the fetch that has these fields', async () => {
    const { result, path, sent } = await run('{ items { freight } }');
    expect([result, path]).toEqual(['{"data":{"items":[{"freight":10},null,{"freight":20},{"freight":10}]}}', 'bytes']);
    expect(sent.at(-1)).toEqual([
      { __typename: 'Item', id: '1', price: 5, unit: { name: 'kg' } },
      { __typename: 'Item', id: '2', price: null, unit: { name: null } },
    ]);
  });

  it('is written around the fields that it requires', async () => {
    const prices = '{"data":{"_entities":[{"unit":{"name":"kg"},"id":"1","price":5},{"unit":{"name":null},"id":"2","price":null}]}}';
    const { result, path } = await run('{ items { id freight price } }', { prices });
    expect(path).toBe('bytes');
    expect((JSON.parse(result) as { data: { items: unknown[] } }).data.items).toEqual([
      { id: '1', freight: 10, price: 5 },
      null,
      { id: '2', freight: 20, price: null },
      { id: '1', freight: 10, price: 5 },
    ]);
  });

  it('is not found by a key that differs from the representation: the object executor uses the first', async () => {
    const prices = texts['prices']?.replace('"id":"1"', '"id":"9"') ?? '';
    const { result, path, sent } = await run('{ items { id freight } }', { prices });
    expect(result).toBe('{"data":{"items":[{"id":"1","freight":10},null,{"id":"2","freight":20},{"id":"1","freight":10}]}}');
    expect([path, sent.length, sent.at(-1)]).toEqual([
      'difference',
      3,
      [
        { __typename: 'Item', id: '1', price: 5, unit: { name: 'kg' } },
        { __typename: 'Item', id: '2', price: null, unit: { name: null } },
      ],
    ]);
  });
});
