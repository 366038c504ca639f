/** Composition with a second opinion, lint and trusted documents. */
import { describe, expect, test } from '@jest/globals';
import { buildSchema } from 'graphql';
import { composeGraph } from './compose.ts';
import { validateDocuments } from './documents.ts';
import { lintSdl } from './lint.ts';

const HEAD = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])\n`;

function toSubgraphs(...sdls: string[]) {
  return sdls.map((sdl, index) => ({ name: `s${index}`, url: `http://s${index}.example`, sdl: `${HEAD}${sdl}` }));
}

/** The recipe of docs/gateway/caching.md. */
const toCached = (scope: string) => `extend schema
  @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@composeDirective"])
  @link(url: "https://trestle.example/cacheControl/v0.1", import: ["@cacheControl"])
  @composeDirective(name: "@cacheControl")
enum ${scope} { PUBLIC PRIVATE }
directive @cacheControl(maxAge: Int, scope: ${scope}, inheritMaxAge: Boolean) on FIELD_DEFINITION | OBJECT | INTERFACE | UNION
"The root." type Query { "A product." product: Product }
"A product." type Product @key(fields: "id") @cacheControl(maxAge: 30) { "Its id." id: ID! }`;

describe('composeGraph', () => {
  test('returns the supergraph, its public schema and the hints of the composer', () => {
    const composition = composeGraph(
      toSubgraphs('type Query { a: T } type T @shareable { x: Int }', 'type Query { b: T } type T @shareable { x: Int! }'),
    );
    expect(composition).toMatchObject({ ok: true, disagreements: [] });
    expect(composition.ok && composition.supergraphSdl).toContain('join__Graph');
    expect(composition.ok && composition.apiSdl).not.toContain('join__');
    expect(composition.hints).toMatchObject([
      { code: 'INCONSISTENT_BUT_COMPATIBLE_FIELD_TYPE', subgraph: 's0', line: 2, severity: 'info' },
    ]);
  });

  test('names code, subgraph, line and column of what does not compose or parse', () => {
    const conflicting = composeGraph(toSubgraphs('type Query { a: T }\ntype T @shareable { x: Int }', 'type T @shareable { x: String }'));
    expect(conflicting).toMatchObject({ ok: false, errors: [{ code: 'FIELD_TYPE_MISMATCH', subgraph: 's0', line: 3, column: 21 }] });
    const broken = composeGraph(toSubgraphs('type Query {\n  a:'));
    expect(broken).toMatchObject({ ok: false, errors: [{ code: 'GRAPHQL_PARSE_FAILED', subgraph: 's0', line: 3, column: 5 }] });
    const [subgraph] = toSubgraphs('type Query { a: Int }') as [ReturnType<typeof toSubgraphs>[0]];
    expect(composeGraph([subgraph, subgraph])).toMatchObject({ ok: false, errors: [{ code: 'DUPLICATE_SUBGRAPH' }] });
  });

  test.each(['cacheControl__Scope', 'CacheControlScope'])(
    'returns no disagreement about a composed directive with the enum %s',
    (scope) => {
      const composition = composeGraph([{ name: 'products', url: '', sdl: toCached(scope) }]);
      expect(composition).toMatchObject({ ok: true, disagreements: [] });
      expect(composition.ok && composition.supergraphSdl).toContain('directive @cacheControl');
    },
  );

  test.each([
    ['only-guild-refuses', ['type Query { a: Int } enum E { A A }'], /can only be defined once/u],
    [
      'only-apollo-refuses',
      ['type Query { a(x: E = B): Int } enum E { A B }', 'type Query { b(x: E): Int } enum E { A }'],
      /default value/u,
    ],
    ['api-schemas-differ', ['type Query { a(x: Int! = 3): Int @shareable }', 'type Query { a(x: Int): Int @shareable }'], /a\(x: Int!/u],
  ])('reports that the composers disagree: %s', (kind, sdls, message) => {
    const { disagreements } = composeGraph(toSubgraphs(...sdls));
    expect(disagreements).toEqual([{ kind, message: expect.stringMatching(message) }]);
  });
});

describe('lintSdl', () => {
  test('reports names, missing descriptions, deprecations without a reason and repeated type names, with their places', () => {
    const sdl = `type user_account {\n  "Its id."\n  UserID: ID!\n}\n"A user."\ntype User {\n  userId: ID! @deprecated\n  "A name."\n  username: String\n}
"Orders."\nenum Order { "Newest first." newest }\ntype Query { "Users." users("Few." First: Int @deprecated(reason: "")): [User] }`;
    const found = lintSdl('users', sdl).map(({ code, line, column, severity }) => `${code} ${line}:${column} ${severity}`);
    expect(found).toEqual([
      'naming-convention 1:6 warning',
      'require-description 1:6 warning',
      'naming-convention 3:3 warning',
      'require-deprecation-reason 7:15 error',
      'require-description 7:3 warning',
      'no-typename-prefix 7:3 warning',
      'naming-convention 12:30 warning',
      'naming-convention 13:36 warning',
      'require-deprecation-reason 13:47 error',
    ]);
  });

  test('ignores what belongs to a linked feature, and no other name with two underscores', () => {
    expect(lintSdl('products', toCached('cacheControl__Scope'))).toEqual([]);
    const other = toCached('cacheControl__Scope').replaceAll('cacheControl__Scope', 'other__Scope');
    expect(lintSdl('products', other)).toContainEqual(expect.objectContaining({ message: 'Name "other__Scope" is not in PascalCase.' }));
  });

  test('switches rules off, and reports a syntax error alone', () => {
    const rules = {
      'naming-convention': 'off',
      'require-description': 'error',
      'require-deprecation-reason': 'off',
      'no-typename-prefix': 'off',
    } as const;
    expect(lintSdl('a', 'type x { y: Int @deprecated }', rules).map(({ code, severity }) => [code, severity])).toEqual([
      ['require-description', 'error'],
      ['require-description', 'error'],
    ]);
    expect(lintSdl('a', 'type {')).toMatchObject([{ code: 'GRAPHQL_PARSE_FAILED', subgraph: 'a', line: 1, column: 6 }]);
  });
});

describe('validateDocuments', () => {
  test('names the document, line and column of what a schema does not allow', () => {
    const schema = buildSchema('type Query { a: Int }');
    const documents = [
      { id: 'good.graphql', text: '{ a }' },
      { id: 'bad.graphql', text: '{\n  a\n  b\n}' },
      { id: 'broken.graphql', text: '{' },
    ];
    expect(validateDocuments(schema, documents)).toMatchObject([
      { code: 'GRAPHQL_VALIDATION_FAILED', subgraph: 'bad.graphql', line: 3, column: 3 },
      { code: 'GRAPHQL_PARSE_FAILED', subgraph: 'broken.graphql', line: 1, column: 2 },
    ]);
  });
});
