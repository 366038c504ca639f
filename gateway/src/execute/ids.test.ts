import { describe, expect, it } from '@jest/globals';
import { type Respond, composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

const SDL = composeSupergraph({
  a: 'type Query { r: R ids: [ID] list: [R!]! big: JSON must: JSON! } type R @key(fields: "id") { id: ID! other: ID } scalar JSON',
  b: 'type Query { again: R } type R @key(fields: "id") { id: ID! n: Int name: String }',
  c: 'type R @key(fields: "id") { id: ID! other: ID @external both: String @requires(fields: "other") }',
});

async function run(query: string, { onObjects, answer }: { onObjects: boolean; answer: Respond }) {
  const sent: string[] = [];
  const { run: execute, found, paths } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
  const result = await execute(prepare(query, SDL), (fetch, done) => {
    const { variables } = JSON.parse(fetch.body) as { variables?: { representations?: unknown } };
    sent.push(`${fetch.service} ${JSON.stringify(variables?.representations ?? [])}`);
    respond(fetch, done, answer);
  });
  const data = result.slice(0, result.lastIndexOf('}') + 1);
  return { data, sent, path: paths.join(), errors: found.map(({ message, path }) => `${(path ?? []).join('.')}: ${message}`) };
}

/** Answers the root with JSON that has no names of types, and entities with values of the fields. */
const answer =
  (root: string, entities: readonly object[] = [], onObjects = false): Respond =>
  ({ query }) =>
    query.includes('_entities')
      ? JSON.stringify({ data: { _entities: entities } })
      : `{"data":${onObjects || query.includes('__typename') ? root.replaceAll('{"id"', '{"__typename":"R","id"') : root}}`;

describe.each([
  ['on bytes', false],
  ['on objects', true],
])('an ID that is a number, executed %s', (_, onObjects) => {
  // GraphQL §3.5.5: IDs are serialized as strings are.
  it.each([
    ['{ r { id } }', '{"r":{"id":1}}', '{"data":{"r":{"id":"1"}}}'],
    [
      '{ r { id other } ids }',
      '{"r":{"id":"x","other":-12},"ids":[1,"2",null,30]}',
      '{"data":{"r":{"id":"x","other":"-12"},"ids":["1","2",null,"30"]}}',
    ],
    ['{ list { a: id id } }', '{"list":[{"a":1,"id":1},{"a":"2","id":2}]}', '{"data":{"list":[{"a":"1","id":"1"},{"a":"2","id":"2"}]}}'],
  ])('is a string in the result of %s, which stays on the path of the executor', async (query, root, data) => {
    const ran = await run(query, { onObjects, answer: answer(root) });
    expect(ran).toMatchObject({ data, errors: [], path: onObjects ? '' : 'bytes' });
  });

  it('is a string in representations, and the same entity as the string', async () => {
    const root = '{"list":[{"id":1},{"id":"1"},{"id":2}]}';
    const ran = await run('{ list { id n } }', { onObjects, answer: answer(root, [{ n: 10 }, { n: 20 }]) });
    expect(ran.sent[1]).toBe('b [{"__typename":"R","id":"1"},{"__typename":"R","id":"2"}]');
    expect(ran.data).toBe('{"data":{"list":[{"id":"1","n":10},{"id":"1","n":10},{"id":"2","n":20}]}}');
    expect(ran.path).toBe(onObjects ? '' : 'bytes');
  });

  it('is a string among required values', async () => {
    const ran = await run('{ r { both } }', { onObjects, answer: answer('{"r":{"id":1,"other":2}}', [{ both: 'x' }]) });
    expect(ran.sent[1]).toBe('c [{"__typename":"R","id":"1","other":"2"}]');
    expect(ran.data).toBe('{"data":{"r":{"both":"x"}}}');
  });

  it('that is not exact is not used to fetch another entity, and is an error', async () => {
    const root = '{"list":[{"id":9007199254740993},{"id":"2"}]}';
    const ran = await run('{ list { n name } }', { onObjects, answer: answer(root, [{ n: 20, name: 'B' }]) });
    expect(ran.sent[1]).toBe('b [{"__typename":"R","id":"2"}]');
    expect(ran.data).toBe('{"data":{"list":[{"n":null,"name":null},{"n":20,"name":"B"}]}}');
    const message = 'A subgraph sent an ID as a number that is not exact in JSON. It must send IDs as strings.';
    expect(ran.errors).toEqual([`list.0.n: ${message}`, `list.0.name: ${message}`]);
    expect(await run('{ r { other } }', { onObjects, answer: answer('{"r":{"other":9007199254740993}}') })).toMatchObject({
      data: '{"data":{"r":{"other":null}}}',
      errors: ['r.other: Invalid value for R.other.'],
    });
  });
});

/** GraphQL §6.4.4. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('a custom scalar, executed %s', (_, onObjects) => {
  it('that is no finite number is null with an error, which propagates', async () => {
    expect(await run('{ big }', { onObjects, answer: answer('{"big":1e400}') })).toMatchObject({
      data: '{"data":{"big":null}}',
      errors: ['big: Invalid value for Query.big.'],
    });
    expect(await run('{ must }', { onObjects, answer: answer('{"must":-1e400}') })).toMatchObject({
      data: '{"data":null}',
      errors: ['must: Invalid value for Query.must.'],
    });
  });
});
