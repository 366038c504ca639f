import { describe, expect, it } from '@jest/globals';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { createPlanner } from '../plan/planner.ts';
import { composeSupergraph, createRunner, prepare, respond } from './bytes/test-execution.ts';
import { OBJECT_EXECUTOR } from './executor.ts';

const SDL = composeSupergraph({
  a: 'type Query { q: Int } type Mutation { add(n: Int): R first: R } type R { id: ID name: String }',
  b: 'type Mutation { x: Int y: Int }',
});

/** Returns the root fields that subgraphs executed, in order, and the result. A subgraph executes the fields of a request from left to right. */
async function run(
  query: string,
  { variables = {}, onObjects = false }: { variables?: Record<string, boolean>; onObjects?: boolean } = {},
) {
  const executed: string[] = [];
  const { run: execute } = createRunner(onObjects ? OBJECT_EXECUTOR : undefined);
  const result = await execute(
    prepare(query, SDL),
    (fetch, done) => {
      respond(fetch, done, ({ query: sent, variables: values }) => {
        const isMet = (condition = '') =>
          [...condition.matchAll(/@(include|skip)\(if:\s*\$(\w+)\)/g)].every(
            ([, name, variable = '']) => values[variable] === (name === 'include'),
          );
        const roots = [
          ...sent.matchAll(/\b(add\(n:\s*\d\)|first|x|y)\s*(?:((?:@\w+\(if:\s*\$\w+\)\s*)+)|(?=[{}\s]|\b))(\{[^}]*\})?/g),
        ].filter(([, , condition]) => isMet(condition));
        executed.push(...roots.map(([, field = '']) => field.replaceAll(' ', '')));
        const data = Object.fromEntries(
          roots.map(([, field = '', , set]) => [field.replace(/\(.*/, ''), set ? Object.fromEntries(namesIn(set, isMet)) : 1]),
        );
        return JSON.stringify({ data });
      });
    },
    variables,
  );
  return { executed: executed.join(' '), result };
}

function namesIn(set: string, isMet: (condition?: string) => boolean): [string, string][] {
  const names = [...set.matchAll(/\b(id|name)\b\s*((?:@\w+\(if:\s*\$\w+\)\s*)*)/g)].filter(([, , condition]) => isMet(condition));
  return names.map(([, name = '']) => [name, name]);
}

/** GraphQL §6.2.2, §6.3.2. */
describe.each([
  ['on bytes', false],
  ['on objects', true],
])('a mutation, executed %s', (_, onObjects) => {
  it.each([
    ['add(n: 1) { id } x add(n: 1) @include(if: $a) { name }', true, 'add(n:1) x', { add: { id: 'id', name: 'name' }, x: 1 }],
    ['add(n: 1) { id } x add(n: 1) @include(if: $a) { name }', false, 'add(n:1) x', { add: { id: 'id' }, x: 1 }],
    ['add(n: 1) @include(if: $a) { id } x add(n: 1) { name }', true, 'add(n:1) x', { add: { id: 'id', name: 'name' }, x: 1 }],
    ['add(n: 1) @include(if: $a) { id } x add(n: 1) { name }', false, 'x add(n:1)', { x: 1, add: { name: 'name' } }],
    [
      '... @include(if: $a) { add(n: 1) { id } } x ... @skip(if: $a) { add(n: 1) { name } }',
      false,
      'x add(n:1)',
      { x: 1, add: { name: 'name' } },
    ],
  ])('executes a mutation field once that is selected under several conditions: %s (%s)', async (selections, a, executed, data) => {
    const ran = await run(`mutation($a: Boolean!) { ${selections} }`, { variables: { a }, onObjects });
    expect(ran).toEqual({ executed, result: JSON.stringify({ data }) });
  });

  it.each([
    ['... @include(if: $a) { first { id } } add(n: 2) { id }', 'first add(n:2)'],
    ['...F @include(if: $a) x', 'first x'],
    ['y ... @include(if: $a) { x } add(n: 2) { id }', 'y x add(n:2)'],
    ['first { id } ... @include(if: $a) { x } add(n: 2) { id }', 'first x add(n:2)'],
  ])('executes its root fields in the order of the document: %s', async (selections, executed) => {
    const fragment = selections.includes('...F') ? 'fragment F on Mutation { first { id } }' : '';
    const ran = await run(`mutation($a: Boolean!) { ${selections} } ${fragment}`, { variables: { a: true }, onObjects });
    expect(ran.executed).toBe(executed);
  });
});

describe('a mutation with one root field under conditions with more than 3 variables', () => {
  it('is refused with an error that says what to select', () => {
    const names = ['a', 'b', 'c', 'd'];
    const fields = names.map((name) => `add(n: 1) @include(if: $${name}) { id }`).join(' x ');
    const query = `mutation(${names.map((name) => `$${name}: Boolean!`).join(', ')}) { ${fields} add(n: 1) { name } }`;
    const prepared = createPlanner(SDL, DEFAULT_LIMITS).prepare({ query, operationName: undefined, labels: [] });
    expect(prepared).toMatchObject({
      errors: [
        {
          message:
            'The mutation selects a root field several times under conditions with more than 3 variables. Select each root field once.',
        },
      ],
    });
  });
});

describe('a mutation with root fields in fragments whose order the planner would change', () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const prepareIn = (selections: string) =>
    createPlanner(SDL, DEFAULT_LIMITS).prepare({
      query: `mutation(${names.map((name) => `$${name}: Boolean!`).join(', ')}) { ${selections} }`,
      operationName: undefined,
      labels: [],
    });
  const fields = ['a', 'b', 'c', 'd'].map((name) => `... @include(if: $${name}) { ${name}: x @include(if: $e) }`);
  const last = '... @include(if: $a) { y @include(if: $e) }';

  it('is refused with an error that says what to do', () => {
    expect(prepareIn([...fields, last].join(' '))).toMatchObject({
      errors: [
        {
          message:
            'The order of the root fields of the mutation cannot be planned, because of the directives of fragments around them. Select root fields outside of fragments.',
        },
      ],
    });
    expect(prepareIn([last, ...fields].join(' '))).toHaveProperty('program');
  });
});
