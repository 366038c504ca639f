import { ApolloServer } from '@apollo/server';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema, parse } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { findDocumentError, validationPlugin } from './validate-document.ts';

const schema = buildSchema(
  'type Query { node(id: ID): Node } type Subscription { news: Node } type Node { id: ID, node: Node, nodes: [Node] }',
);
const repeat = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ');
const messageOf = (source: string) => findDocumentError(schema, parse(source))?.message;
const tooComplex = 'The document is too complex to validate; select each field once and spread fewer fragments';

describe('findDocumentError', () => {
  it('accepts a valid document, also the second time', () => {
    const document = parse('query A { node { id } } query B { ...F } fragment F on Query { node { nodes { id } } }');
    expect(findDocumentError(schema, document)).toBeUndefined();
    expect(findDocumentError(schema, document)).toBeUndefined();
    expect(findDocumentError(buildSchema('type Query { other: ID }'), document)).toBeDefined();
  });

  it('returns the first error of a document that does not follow the specification', () => {
    expect(messageOf('{ node { no } node { nor } }')).toBe('Cannot query field "no" on type "Node".');
    expect(messageOf('{ ...G } fragment G on Query { node { ...F } } fragment F on Node { node { ...G } }')).toContain(
      'Cannot spread fragment',
    );
    expect(messageOf('{ node { ...F } } fragment F on Node { node { ...F } }')).toContain('Cannot spread fragment "F" within itself');
  });

  it('counts the levels of fragments that are spread in each other, whatever their order is', () => {
    const write = (count: number) => [
      '{ node { ...F0 } }',
      ...Array.from({ length: count }, (_, i) => `fragment F${String(i)} on Node { node { ...F${String(i + 1)} } }`),
      `fragment F${String(count)} on Node { id }`,
    ];
    // The operation and these fragments have two levels each, and the last fragment has one.
    expect(messageOf(write(248).join(' '))).toBeUndefined();
    for (const definitions of [write(249), write(249).reverse(), write(4000), write(4000).reverse()])
      expect(messageOf(definitions.join(' '))).toBe('The document has fragments that are nested deeper than the limit of 500 levels.');
  });

  it.each([
    ['the field', 'subscription { news @skip(if: true) { id } }'],
    ['the field, by a variable', 'subscription ($on: Boolean!) { news @include(if: $on) { id } }'],
    ['an inline fragment', 'subscription { ... @include(if: false) { news { id } } }'],
    ['the spread of a fragment', 'subscription { ...F @skip(if: true) } fragment F on Subscription { news { id } }'],
    ['a field of a fragment', 'subscription { ...F } fragment F on Subscription { news @skip(if: true) { id } }'],
  ])('refuses a subscription with a condition on %s', (_, source) => {
    expect(messageOf(source)).toBe('The root field of a subscription must not have @skip or @include.');
  });

  it('accepts conditions on other fields of a subscription, and on root fields of queries', () => {
    expect(messageOf('subscription { news { id node @skip(if: true) { id } } }')).toBeUndefined();
    expect(messageOf('{ node @skip(if: true) { id } }')).toBeUndefined();
  });

  it.each([
    ['operations', repeat(51, (i) => `query Q${String(i)} { node { id } }`), 'Operation count 51 exceeds the limit of 50.'],
    [
      'root fields',
      `{ ...F } fragment F on Query { ${repeat(51, (i) => `n${String(i)}: node { id }`)} }`,
      'Root field count 51 exceeds the limit of 50.',
    ],
    ['fields to compare', `{ node { ${repeat(300, () => 'nodes { id }')} } }`, tooComplex],
    [
      'levels of fragments',
      `{ ...F0 } ${repeat(5000, (i) => `fragment F${String(i)} on Query { ...F${String(i + 1)} }`)} fragment F5000 on Query { node { id } }`,
      'The document has fragments that are nested deeper than the limit of 500 levels.',
    ],
    [
      'fragments to compare',
      `{ node { ${repeat(300, (i) => `...F${String(i)}`)} } } ${repeat(300, (i) => `fragment F${String(i)} on Node { id }`)}`,
      tooComplex,
    ],
  ])('does not validate a document with too many %s', (_, source, message) => {
    expect(messageOf(source)).toBe(message);
    // It would report the unknown type first.
    expect(messageOf(`${source} fragment U on Unknown { id }`)).toBe(message);
  });
});

describe('validationPlugin', () => {
  const server = new ApolloServer<RequestContext>({ schema, dangerouslyDisableValidation: true, plugins: [validationPlugin] });
  const execute = async (query: string) => {
    const { http, body } = await server.executeOperation({ query }, { contextValue: {} as RequestContext });
    return { status: http.status, ...(body.kind === 'single' ? body.singleResult : {}) };
  };
  beforeAll(() => server.start());
  afterAll(() => server.stop());

  it('executes valid documents only', async () => {
    expect(await execute('{ node { id } }')).toEqual({ status: undefined, data: { node: null } });
    const refusal = {
      status: 400,
      errors: [
        {
          message: 'Cannot query field "no" on type "Node".',
          locations: [{ line: 1, column: 10 }],
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
    };
    // The second time Apollo Server finds the document in its store.
    for (let n = 0; n < 2; n++) expect(await execute('{ node { no } }')).toMatchObject(refusal);
    expect(await execute(`{ node { ${repeat(300, () => 'nodes { id }')} } }`)).toMatchObject({
      status: 400,
      errors: [{ message: tooComplex }],
    });
  });
});
