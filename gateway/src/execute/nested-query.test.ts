import { describe, expect, it } from '@jest/globals';
import { composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

const SDL = composeSupergraph({
  a: 'type Query { us: [U!]! } type U { id: ID! q: Query }',
  b: 'type Query { bad: Int x: Int }',
});

/** GraphQL §7.1.2: the path of an error names the field of the response that has it. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('an error below the root type that is reached in a list, executed %s', (_, onObjects) => {
  it('has the path of the field in each object', async () => {
    const { run, found } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
    const result = await run(prepare('{ us { id q { bad x } } }', SDL), (fetch, done) => {
      respond(fetch, done, ({ service, query }) => {
        const type = query.includes('__typename') ? '{"__typename":"Query"}' : '{}';
        return service === 'b'
          ? '{"errors":[{"message":"bad","path":["bad"]}],"data":{"bad":null,"x":1}}'
          : `{"data":{"us":[{"id":"1","q":${type}},{"id":"2","q":${type}},{"id":"3","q":null}]}}`;
      });
    });
    expect(result).toContain('{"data":{"us":[{"id":"1","q":{"bad":null,"x":1}},{"id":"2","q":{"bad":null,"x":1}},{"id":"3","q":null}]}}');
    expect(found.map(({ path, message }) => [message, path])).toEqual([
      ['bad', ['us', 0, 'q', 'bad']],
      ['bad', ['us', 1, 'q', 'bad']],
    ]);
  });
});
