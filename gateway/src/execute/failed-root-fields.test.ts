import { describe, expect, it } from '@jest/globals';
import { composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

const SUPERGRAPH = composeSupergraph({ a: 'type Query { one: Int! }', b: 'type Query { two: Int! three: Int }' });

/** Executes a query. The first subgraph reports an error at its field, which must not be null; the second one returns no result. */
async function run(query: string, onObjects: boolean) {
  const { run: execute, found } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
  const result = await execute(prepare(query, SUPERGRAPH), (fetch, done) => {
    respond(fetch, done, ({ service }) => (service === 'a' ? '{"data":null,"errors":[{"message":"broken","path":["one"]}]}' : '{}'));
  });
  return { data: result.slice(0, result.lastIndexOf('}') + 1), errors: found.map(({ message, path }) => [message, path]) };
}

/** GraphQL §7.1.2: an error that belongs to a field of the response has its path. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('the error of a fetch whose fields are not in the result, because another field made the data null, executed %s', (_, onObjects) => {
  it('has the path of its field when there is one', async () => {
    expect(await run('{ one two }', onObjects)).toEqual({
      data: '{"data":null}',
      errors: [
        ['broken', ['one']],
        ['no result', ['two']],
      ],
    });
  });

  it('has no path when there are several', async () => {
    expect((await run('{ one two three }', onObjects)).errors).toEqual([
      ['broken', ['one']],
      ['no result', undefined],
    ]);
  });
});
