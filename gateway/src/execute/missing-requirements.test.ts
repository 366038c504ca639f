import { describe, expect, it } from '@jest/globals';
import { composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

/** The second subgraph requires one of the two fields of the first one. */
const compose = (required: string) => {
  const field = required.startsWith('media') ? 'media: Media' : 'book: Book';
  return composeSupergraph({
    a: `type Query { p: P } type P @key(fields: "id") { id: ID! media: Media book: Book } union Media = Book | Film
      type Book @key(fields: "id") { id: ID! } type Film { minutes: Int }`,
    b: `type P @key(fields: "id") { id: ID! ${field} @external label: String @requires(fields: "${required}") }
      ${required.startsWith('media') ? 'union Media = Book' : ''} type Book @key(fields: "id") { id: ID! title: String @external }`,
    c: 'type Book @key(fields: "id") { id: ID! title: String }',
  });
};
const BOOK = { __typename: 'Book', id: '7' };
const ROOT = JSON.stringify({ data: { p: { __typename: 'P', id: '1', media: BOOK, book: BOOK } } });

async function run(required: string, { onObjects, titles }: { onObjects: boolean; titles: object }) {
  const sent: string[] = [];
  const { run: execute, found } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
  const result = await execute(prepare('{ p { label } }', compose(required)), (fetch, done) => {
    respond(fetch, done, ({ service, variables }) => {
      sent.push(service === 'b' ? `b ${JSON.stringify(variables['representations'])}` : service);
      return service === 'a' ? ROOT : JSON.stringify(service === 'b' ? { data: { _entities: [{ label: 'b' }] } } : titles);
    });
  });
  return { sent, data: result.slice(0, result.lastIndexOf('}') + 1), errors: found.map(({ message, path }) => [message, path]) };
}

/** Federation: `@requires` gives a field the values that it needs. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('a field with @requires, executed %s', (_, onObjects) => {
  it.each(['book { title }', 'media { ... on Book { title } }'])(
    'is not fetched when a nested part of %s could not be fetched, and has the error',
    async (required) => {
      for (const titles of [{ errors: [{ message: 'down' }] }, { errors: [{ message: 'down' }], data: null }, {}])
        expect(await run(required, { onObjects, titles })).toEqual({
          sent: ['a', 'c'],
          data: '{"data":{"p":{"label":null}}}',
          errors: [['errors' in titles ? 'down' : 'no result', ['p', 'label']]],
        });
    },
  );

  it.each(['book { title }', 'media { ... on Book { title } }'])('is fetched with the null that a part of %s has', async (required) => {
    const { sent, data } = await run(required, { onObjects, titles: { data: { _entities: [{ title: null }] } } });
    expect(sent[2]).toContain('{"title":null}');
    expect(data).toBe('{"data":{"p":{"label":"b"}}}');
  });
});
