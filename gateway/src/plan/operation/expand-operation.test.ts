import { describe, expect, it } from '@jest/globals';
import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, buildSchema, parse, print, validate } from 'graphql';
import { expandOperation } from './expand-operation.ts';

const schema = buildSchema(`
  type Query { user: User node: Node media: Media any: Any }
  interface Node { id: ID }
  interface Media { title: String }
  type User implements Node { id: ID name: String friend: User }
  type Book implements Node & Media { id: ID title: String }
  type Film implements Node & Media { id: ID title: String }
  type Song implements Media { title: String }
  union Any = User | Book
`);

function expand(source: string, maxSelections = 200) {
  const document = parse(source, { noLocation: true });
  expect(validate(schema, document)).toEqual([]);
  const operation = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  const fragments = document.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
  const expanded = expandOperation({ schema, operation: operation as OperationDefinitionNode, fragments, maxSelections });
  const text = print(expanded.operation);
  expect(validate(schema, parse(text)).filter(({ message }) => !message.includes('never used'))).toEqual([]);
  return { text: text.replaceAll(/\s+/g, ' '), selections: expanded.selections };
}

/** Fragments of which each spreads the next one in some way. */
const chain = (levels: number, { on, last }: { on: string; last: string }, write: (next: string) => string) =>
  `${Array.from({ length: levels }, (_, i) => `fragment F${String(i)} on ${on} { ${write(`F${String(i + 1)}`)} }`).join(' ')} fragment F${String(levels)} on ${on} { ${last} }`;

describe('expandOperation', () => {
  it.each([
    ['{ user { ...A ...A } } fragment A on User { id ...B } fragment B on User { id name }', '{ user { id name } }'],
    ['{ user { friend { id } friend { name } } user { id } }', '{ user { friend { id name } id } }'],
    ['{ user { ... on Node { id } } }', '{ user { id } }'],
    ['{ node { ... on User { id } id ... on User { name } } }', '{ node { id ... on User { id name } } }'],
    ['{ media { ... on Node { ... on Film { title } id } } }', '{ media { ... on Node { id } ... on Node { ... on Film { title } } } }'],
    ['{ any { ... on Media { ... on Film { title } title } } }', '{ any { ... on Media { title } } }'],
    ['{ any { ... on Media { ... on Film { title } } } }', '{ any { __typename } }'],
    ['{ __schema { types { name } } a: __type(name: "User") { name } }', '{ __typename }'],
    ['{ user { id @include(if: true) name @skip(if: true) } }', '{ user { id } }'],
  ])('writes %s as %s', (source, expected) => {
    expect(expand(source).text).toBe(expected);
  });

  it('keeps conditions, those of fragments as fragments of their own, and leaves out what can never be asked for', () => {
    const { text } = expand(`query ($a: Boolean!, $b: Boolean!) { user { ...A @include(if: $a) ... @include(if: $a) { name @skip(if: $b) }
      ... @skip(if: $a) { ...A @include(if: $a) } } } fragment A on User { id }`);
    expect(text).toBe('query ($a: Boolean!, $b: Boolean!) { user { ... @include(if: $a) { id name @skip(if: $b) } } }');
  });

  it.each([
    ['twice', (next: string) => `...${next} ...${next}`],
    ['within fragments with a condition that holds', (next: string) => `...${next} ... @include(if: true) { ...${next} }`],
    ['under two type conditions', (next: string) => `...${next} ... on Node { ... on User { ...${next} } }`],
  ])('does the work of 30 fragments when each spreads the next one %s', (_, write) => {
    const { text, selections } = expand(`{ user { ...F0 } } ${chain(30, { on: 'User', last: 'id' }, write)}`);
    expect([text, selections]).toEqual(['{ user { id } }', 2]);
  });

  it('refuses an operation that has too many selections, before it has written them', () => {
    const variables = Array.from({ length: 30 }, (_, i) => `$v${String(i)}: Boolean!`).join(' ');
    let i = 0;
    const bomb = chain(
      30,
      { on: 'User', last: 'id' },
      (next) => `...${next} @include(if: $v${String(i)}) ...${next} @skip(if: $v${String(i++)})`,
    );
    expect(() => expand(`query (${variables}) { user { ...F0 } } ${bomb}`)).toThrow(
      'The operation has more than 200 selections when its fragments are expanded. Select fewer fields or conditions.',
    );
  });
});
