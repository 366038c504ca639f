import { describe, expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import { DEFAULT_LIMITS } from './limits.ts';
import { validateOperations } from './validate-operations.ts';

const schema = buildSchema('type Query { node: Node } type Node { id: ID, node: Node }');
const repeat = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');
const messagesOf = (source: string) =>
  validateOperations(parse(source), { schema, limits: DEFAULT_LIMITS, maxErrors: 20 }).map(({ message }) => message);

it('reports what a document breaks of the specification', () => {
  expect(messagesOf('{ node { id } }')).toEqual([]);
  expect(messagesOf('{ node { no nor } }')).toEqual([
    'Cannot query field "no" on type "Node".',
    'Cannot query field "nor" on type "Node". Did you mean "node"?',
  ]);
});

it('suggests no name of the schema when introspection is off', () => {
  const enums = buildSchema('type Query { node(id: ID, in: In): Node } type Node { id: ID } enum In { HERE }');
  const limits = { ...DEFAULT_LIMITS, hasIntrospection: false };
  const document = parse('query ($a: Nod) { nodes node(ids: 1, in: HER) { idd ... on Nod { id } } }');
  const messages = validateOperations(document, { schema: enums, limits, maxErrors: 20 }).map(({ message }) => message);
  expect(messages).toContain('Cannot query field "nodes" on type "Query".');
  expect(messages).toContain('Value "HER" does not exist in "In" enum.');
  expect(messages.join()).not.toContain('Did you mean');
});

it.each([
  ['exceeds a limit', repeat(31, (i) => `a${String(i)}: node { id }`), 'Alias count 31 exceeds the limit of 30.'],
  [
    'has too many fields to compare',
    `node { ${repeat(300, () => 'node { id }')} }`,
    'The document is too complex to validate; select each field once and spread fewer fragments',
  ],
])('does not validate a document that %s', (_, selections, message) => {
  expect(messagesOf(`{ ${selections} unknown }`)).toEqual([message]);
});

describe('the root field of a subscription', () => {
  it('is refused with a variable in its conditions', () => {
    const live = buildSchema('type Query { n: Int } type Subscription { s: Int t: Int }');
    for (const source of [
      'subscription($a: Boolean!) { s @include(if: $a) }',
      'subscription($a: Boolean!) { ...F } fragment F on Subscription { s @skip(if: $a) }',
    ])
      expect(
        validateOperations(parse(source), { schema: live, limits: DEFAULT_LIMITS, maxErrors: 20 }).map(({ message }) => message),
      ).toEqual(['The root field of a subscription must not have @skip or @include with a variable.']);
  });
});
