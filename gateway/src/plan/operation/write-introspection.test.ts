import { describe, expect, it } from '@jest/globals';
import {
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  buildSchema,
  executeSync,
  getIntrospectionQuery,
  parse,
  validate,
} from 'graphql';
import { findIntrospection } from './introspection.ts';
import { createSelections } from '../selections/selection.ts';

const schema = buildSchema(`
  "What is asked → …"
  schema { query: Query subscription: Subscription }
  directive @mark(level: Int = 3, names: [String!] = ["a", "b"], old: Int @deprecated) repeatable on FIELD | OBJECT
  scalar Url @specifiedBy(url: "https://example.com/url")
  type Query { user(id: ID!, role: Role = ADMIN, old: Int @deprecated(reason: "unused")): User  "a \\"quoted\\" text" node: Node any: Any }
  type Subscription { ticked: Int! }
  interface Node { id: ID! }
  type User implements Node { id: ID! names: [[String!]]! password: String @deprecated(reason: "🔑 lost") empty: Url }
  type Empty { nothing: Int @deprecated }
  union Any = User | Empty
  enum Role { "all rights" ADMIN USER @deprecated }
  input Choice @oneOf { one: Int two: Filter }
  input Filter { like: String = "é" not: Choice @deprecated names: [Role!] = [ADMIN] }
`);

interface Asked {
  readonly variables?: Record<string, unknown>;
  readonly maxBytes?: number;
}

/** Returns the results as one object of JSON, and what graphql-js returns. */
function introspect(source: string, { variables = {}, maxBytes = 1e6 }: Asked = {}) {
  const document = parse(source);
  expect(validate(schema, document)).toEqual([]);
  const operation = document.definitions.find((each): each is OperationDefinitionNode => each.kind === Kind.OPERATION_DEFINITION);
  const fragments = document.definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION);
  const selections = createSelections(schema, new Map(fragments.map((each) => [each.name.value, each])));
  const sets = [{ set: (operation as OperationDefinitionNode).selectionSet, when: [] }];
  const found = findIntrospection({ schema, operation: operation as OperationDefinitionNode, fragments, selections, sets });
  const texts = Object.entries(found?.answer(variables, maxBytes) ?? {}).map(
    ([key, bytes]) => `${JSON.stringify(key)}:${Buffer.from(bytes).toString()}`,
  );
  return {
    isOpen: found?.isOpen,
    result: `{${texts.join(',')}}`,
    expected: JSON.stringify(executeSync({ schema, document, variableValues: variables }).data),
  };
}

describe('introspection', () => {
  it.each([
    ['the query of tools', getIntrospectionQuery(), {}],
    [
      'the query of tools with all options',
      getIntrospectionQuery({
        specifiedByUrl: true,
        directiveIsRepeatable: true,
        schemaDescription: true,
        inputValueDeprecation: true,
        oneOf: true,
      }),
      {},
    ],
    [
      'null, and types that do not exist',
      '{ __schema { mutationType { name } } a: __type(name: "No") { name } b: __type(name: "Url") { fields { name } } }',
      {},
    ],
    ['empty lists', '{ __type(name: "Empty") { interfaces { name } fields { name } } }', {}],
    [
      '__typename and aliases that objects inherit',
      '{ __schema { __typename toString: types { __proto__: name constructor: kind t: __typename } } }',
      {},
    ],
    [
      'selections of one key merged, in the order of the first',
      '{ __schema { types { name ...A } ...S } } fragment A on __Type { fields { name ...F } kind } fragment F on __Field { type { kind } } fragment S on __Schema { types { kind fields { type { ofType { name } } isDeprecated } } queryType { ...A } }',
      {},
    ],
    [
      'literal conditions',
      '{ __schema { types @skip(if: false) { name @include(if: true) kind @skip(if: true) ... @include(if: false) { description } } } }',
      {},
    ],
    [
      'variables as conditions and arguments',
      'query ($a: Boolean!, $b: Boolean = true, $name: String!) { __type(name: $name) { kind @include(if: $a) name @skip(if: $b) fields(includeDeprecated: $b) { name } ... @skip(if: $a) { description } } }',
      { a: false, name: 'User' },
    ],
    [
      'selections of a root field under different conditions',
      'query ($a: Boolean!, $b: Boolean!) { __schema @include(if: $a) { types { name } } __schema @skip(if: $b) { queryType { name } } }',
      { a: false, b: false },
    ],
  ])('writes %s as graphql-js does', (_, source, variables) => {
    const { result, expected } = introspect(source, { variables });
    expect(result).toBe(expected);
  });

  it('depends on the variables within its fields, and on conditions of a field that is selected twice', () => {
    const isOpen = (source: string) => introspect(source, { variables: { a: true } }).isOpen;
    expect(isOpen('query ($a: Boolean!) { __schema @include(if: $a) { types { name } } }')).toBe(false);
    expect(isOpen('query ($a: Boolean!) { __schema { types { name @include(if: $a) } } }')).toBe(true);
    expect(isOpen('query ($a: Boolean!) { __schema @include(if: $a) { types { name } } __schema { types { kind } } }')).toBe(true);
  });

  it('has buffers of their own, which can be transferred', () => {
    const document = parse('{ __schema { queryType { name } } }');
    const [operation] = document.definitions as [OperationDefinitionNode];
    const selections = createSelections(schema, new Map());
    const found = findIntrospection({ schema, operation, fragments: [], selections, sets: [{ set: operation.selectionSet, when: [] }] });
    const { __schema: bytes } = found?.answer({}, 1e6) ?? {};
    expect(bytes?.buffer.byteLength).toBe(bytes?.length);
  });

  it('stops at the limit of all results together', () => {
    const source = '{ a: __schema { types { name description } } b: __schema { types { name description } } }';
    const { length } = introspect(source).result;
    expect(() => introspect(source, { maxBytes: length / 2 })).toThrow(
      `The introspection result exceeds the limit of ${String(length / 2)} bytes`,
    );
  });
});
