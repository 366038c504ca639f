import { expect, it } from '@jest/globals';
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

it.each([
  ['exceeds a limit', repeat(20, (i) => `a${String(i)}: node { id }`), 'Root field count 21 exceeds the limit of 20.'],
  [
    'has too many fields to compare',
    `node { ${repeat(300, () => 'node { id }')} }`,
    'The document is too complex to validate; select each field once and spread fewer fragments',
  ],
])('does not validate a document that %s', (_, selections, message) => {
  expect(messagesOf(`{ ${selections} unknown }`)).toEqual([message]);
});
