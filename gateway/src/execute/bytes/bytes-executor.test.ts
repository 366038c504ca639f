import { describe, expect, it } from '@jest/globals';
import type { SendFetch } from '../execute.ts';
import { type Respond, USERS, byService, composeSupergraph, createRunner, prepare, respond, runOnce } from './test-execution.ts';

describe('an operation of one subgraph', () => {
  it('is answered by the bytes of the response', async () => {
    const { result, path } = await runOnce('{ users { id name } }', () => USERS);
    expect([result, path]).toEqual([USERS, 'bytes']);
  });

  it('requests the fields in the order of the response, and the name of a type only where it is not known', async () => {
    const { sent, result } = await runOnce(
      '{ me { ...Name id } me { __typename } } fragment Name on User { tn: __typename name }',
      () => '{"data":{"me":{"tn":"User","name":"A","id":1,"__typename":"User"}}}',
    );
    expect(sent).toEqual(['users {me{tn:__typename name id __typename}}']);
    expect(result).toBe('{"data":{"me":{"tn":"User","name":"A","id":"1","__typename":"User"}}}');
  });

  it.each([
    ['another order', '{"data":{"users":[{"name":"A","id":"1"}]}}', 'difference', '{"data":{"users":[{"id":"1","name":"A"}]}}'],
    ['a list without commas', '{"data": {"users": [] []}}', 'failure', '{"data":null}no result'],
    ['another member', '{"data":{"users":[]},"extensions":{}}', 'difference', '{"data":{"users":[]}}'],
    [
      'a field that was not requested',
      '{"data":{"users":[{"id":"1","name":"A","x":1}]}}',
      'difference',
      '{"data":{"users":[{"id":"1","name":"A"}]}}',
    ],
    ['errors and another member', '{"data":{"users":[]},"errors":[{"message":"E"}],"a":1}', 'errors', '{"data":{"users":[]}}E'],
    [
      'null where it is not allowed',
      '{"data":{"users":[null]}}',
      'difference',
      '{"data":null}Cannot return null for non-nullable field Query.users.',
    ],
    ['a value of another type', '{"data":{"users":[{"id":"1","name":2}]}}', 'difference', '{"data":null}Invalid value for User.name.'],
    ['no JSON', '{"data":{"users":[', 'failure', '{"data":null}no result'],
  ])('leaves %s to the object executor', async (_, text, path, result) => {
    expect(await runOnce('{ users { id name } }', () => text)).toEqual({ result, path, sent: ['users {users{id name}}'] });
  });

  it('leaves text that is not UTF-8 to the object executor', async () => {
    const { run, paths } = createRunner();
    const text = Buffer.concat([Buffer.from('{"data":{"me":{"name":"'), Buffer.from([0xff]), Buffer.from('"}}}')]);
    const result = await run(prepare('{ me { name } }'), ({ take }, done) => {
      expect(take?.(text, 0, text.length)).toBeUndefined();
      done(null, { data: { me: { name: 'read by JSON.parse' } } });
    });
    expect([result, paths]).toEqual(['{"data":{"me":{"name":"read by JSON.parse"}}}', ['difference']]);
  });

  it('accepts white space between tokens', async () => {
    const { run, paths } = createRunner();
    const operation = prepare('{ users { id name } }');
    for (const space of [1, '\t', 0, 2])
      expect(
        await run(operation, (fetch, done) => {
          respond(fetch, done, () => JSON.stringify({ data: { users: [{ id: ' 1 ', name: 'A: [ "B" ]' }] } }, null, space));
        }),
      ).toBe('{"data":{"users":[{"id":" 1 ","name":"A: [ \\"B\\" ]"}]}}');
    expect(paths).toEqual(['bytes', 'bytes', 'bytes', 'bytes']);
  });

  it('accepts a line feed behind the response', async () => {
    expect((await runOnce('{ users { id name } }', () => `${USERS}\r\n`)).result).toBe(USERS);
  });

  it('writes fields by the conditions of the request', async () => {
    const query = 'query ($a: Boolean!) { me { name @include(if: $a) id @skip(if: $a) } }';
    const text: Respond = ({ variables }) => (variables['a'] === true ? '{"data":{"me":{"name":"A"}}}' : '{"data":{"me":{"id":"1"}}}');
    expect(await runOnce(query, text, { a: true })).toMatchObject({ result: '{"data":{"me":{"name":"A"}}}', path: 'bytes' });
    expect(await runOnce(query, text, { a: false })).toMatchObject({ result: '{"data":{"me":{"id":"1"}}}', path: 'bytes' });
  });

  it.each([true, false])('has a field of either of two fetches when a condition is %s', async (a) => {
    const query = 'query ($a: Boolean!, $c: Boolean!) { ... @include(if: $a) { n @include(if: $c) } ... @include(if: $c) { m } }';
    const { run } = createRunner();
    const send: SendFetch = (fetch, done) => {
      respond(fetch, done, ({ query: sent }) => (/\bn\b/.test(sent) ? '{"data":{"n":1,"m":2}}' : '{"data":{"m":2}}'));
    };
    const result = await run(prepare(query, composeSupergraph({ s: 'type Query { n: Int m: Int }' })), send, { a, c: true });
    expect(result).toBe(a ? '{"data":{"n":1,"m":2}}' : '{"data":{"m":2}}');
  });
});

describe('the executor on bytes', () => {
  it('pauses for an operation whose responses differ, longer each time', async () => {
    const { run, paths } = createRunner();
    const operation = prepare('{ me { name } }');
    for (let i = 0; i < 8; i++)
      await run(operation, (fetch, done) => {
        respond(fetch, done, () => '{"extensions":{},"data":{"me":null}}');
      });
    expect(paths).toEqual(['difference', 'pause', 'difference', 'pause', 'pause', 'pause', 'difference', 'pause']);
  });

  it('never mixes the responses of requests that are in flight together', async () => {
    const { run, paths, arenas } = createRunner();
    const operation = prepare('query ($n: String) { users { name orders { n product { title } } } }'.replace('query ($n: String) ', ''));
    const waiting: (() => void)[] = [];
    const results = Array.from({ length: 200 }, (_, request) => {
      const marker = `m${request}m${'x'.repeat(request * 7)}`;
      const texts = {
        users: `{"data":{"users":[{"id":"${marker}","name":"${marker}"}]}}`,
        orders: `{"data":{"_entities":[{"orders":[{"n":${request},"product":{"id":"${marker}"}}]}]}}`,
        products: `{"data":{"_entities":[{"title":"${marker}"}]}}`,
      };
      const expected = `{"data":{"users":[{"name":"${marker}","orders":[{"n":${request},"product":{"title":"${marker}"}}]}]}}`;
      const isSpoiled = request % 5 === 0;
      const send: SendFetch = (fetch, done) => {
        waiting.push(() => {
          respond(fetch, done, (sent) =>
            byService(texts)(sent).replace(isSpoiled && sent.service === 'orders' ? '{"data"' : '\0', '{"extensions":{},"data"'),
          );
        });
      };
      return run(operation, send).then((result) => [result, expected]);
    });
    // Responses arrive in another order than the requests.
    while (waiting.length > 0) waiting.splice(Math.floor((waiting.length * 7919) / 10_007) % waiting.length, 1)[0]?.();
    for (const [result, expected] of await Promise.all(results)) expect(result).toBe(expected);
    expect(paths.filter((path) => path === 'bytes').length).toBeGreaterThan(100);
    expect(arenas.counts.used).toBe(0);
  });

  it('leaves keys that are chosen to be large or many to arenas that grow', async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => `user-${i}-${'y'.repeat(i % 50)}`);
    const { result, path } = await runOnce('{ users { id count } }', ({ service, variables }) =>
      service === 'users'
        ? JSON.stringify({ data: { users: ids.map((id) => ({ id })) } })
        : JSON.stringify({ data: { _entities: (variables['representations'] as unknown[]).map((_, i) => ({ count: i })) } }),
    );
    expect(path).toBe('bytes');
    expect(JSON.parse(result)).toEqual({ data: { users: ids.map((id, count) => ({ id, count })) } });
  });
});
