import { describe, expect, it } from '@jest/globals';
import { stripIgnoredCharacters } from 'graphql';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from '../plan/planner.ts';
import { composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

const SDL = composeSupergraph({
  a: `scalar JSON enum E { RED } input I { j: JSON e: E n: Float }
    type Query { f(x: JSON, xs: [JSON!], i: I, fl: Float, s: String): Int u: U } type U @key(fields: "id") { id: ID! }`,
  b: 'scalar JSON type U @key(fields: "id") { id: ID! g(x: JSON): Int }',
});

/** Returns the documents that subgraphs get, without white space. */
async function sentOf(query: string, onObjects: boolean): Promise<string> {
  const sent: string[] = [];
  const { run } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
  await run(prepare(query, SDL), (fetch, done) => {
    const { query: document } = JSON.parse(fetch.body) as { query: string };
    sent.push(stripIgnoredCharacters(document));
    respond(fetch, done, () =>
      document.includes('_entities')
        ? '{"data":{"_entities":[{"g":1}]}}'
        : document.includes('u{')
          ? `{"data":{"u":{${document.includes('__typename') ? '"__typename":"U",' : ''}"id":"1"}}}`
          : '{"data":{"f":1}}',
    );
  });
  return sent.at(-1) ?? '';
}

/** GraphQL §3.5: the service that defines a custom scalar coerces its literals. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('a literal of a custom scalar, executed %s', (_, onObjects) => {
  it.each([
    ['{ f(x: 12345678901234567890) }', 'x:12345678901234567890'],
    ['{ f(x: 1.0) }', 'x:1.0'],
    ['{ f(x: 1e400) }', 'x:1e400'],
    ['{ f(x: RED) }', 'x:RED'],
    ['{ f(xs: [1.50, RED, [2.0], "RED", 7]) }', 'xs:[1.50 RED[2.0]"RED" 7]'],
    [
      '{ f(x: { a: 1.0, b: [RED, -0.0], c: null, d: { e: 12345678901234567890 } }) }',
      'x:{a:1.0 b:[RED -0.0]c:null d:{e:12345678901234567890}}',
    ],
    ['{ f(i: { j: { c: 12345678901234567890 }, e: RED, n: 1.5 }) }', 'i:{j:{c:12345678901234567890}e:RED n:1.5}'],
    ['query($j: JSON = 12345678901234567890) { f(x: $j) }', '$j:JSON=12345678901234567890'],
    ['query($v: Int) { f(x: { a: $v, b: 1.0 }) }', 'x:{a:$v b:1.0}'],
    ['{ u { g(x: 1.0) } }', 'g(x:1.0)'],
  ])('keeps its text: %s', async (query, text) => {
    expect(await sentOf(query, onObjects)).toContain(text);
  });
});

describe('a literal of Float', () => {
  it.each([
    ['{ f(fl: 1e400) }', 'Float cannot represent the value of the argument "fl": it is beyond the largest finite number.'],
    ['{ f(i: { n: -1e309 }) }', 'Float cannot represent the value of the argument "i": it is beyond the largest finite number.'],
    ['query($n: Float = 1e400) { f(fl: $n) }', 'Float cannot represent the value: it is beyond the largest finite number.'],
  ])('that is no finite number is a validation error: %s', (query, message) => {
    const prepared = createPlanner(SDL, DEFAULT_LIMITS).prepare({ query, operationName: undefined, labels: [] });
    expect(prepared).toMatchObject({ errors: [{ message }] });
  });
});
