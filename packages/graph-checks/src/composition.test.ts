/** Composition with a second opinion, lint, trusted documents and contracts. */
import { describe, expect, test } from '@jest/globals';
import { composeSchemaContract } from '@theguild/federation-composition';
import fc from 'fast-check';
import { buildSchema, lexicographicSortSchema, parse, printSchema } from 'graphql';
import { composeGraph } from './compose.ts';
import { makeContract } from './contracts.ts';
import { validateDocuments } from './documents.ts';
import { lintSdl } from './lint.ts';

const HEAD = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable", "@tag"])\n`;

function toSubgraphs(...sdls: string[]) {
  return sdls.map((sdl, index) => ({ name: `s${index}`, url: `http://s${index}.example`, sdl: `${HEAD}${sdl}` }));
}

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

describe('makeContract', () => {
  const USERS = `type Query { user: User @tag(name: "public") audit: Audit @tag(name: "internal") find(by: By, secret: String @tag(name: "internal")): [Hit] }
type User @key(fields: "id") { id: ID! @tag(name: "public") name: String @tag(name: "public") note: String @tag(name: "internal") rank: Rank }
type Audit { at: String entries: [Entry] } type Entry { text: String }
enum Rank { LOW HIGH TOP @tag(name: "internal") } input By { name: String token: String @tag(name: "internal") }
union Hit = User | Audit`;
  const ORDERS = `type User @key(fields: "id") { id: ID! orders: [Order] @tag(name: "public") } type Order @tag(name: "public") { id: ID! total: Int }`;
  const subgraphs = toSubgraphs(USERS, ORDERS);

  function contractOf(sources: typeof subgraphs, include: string[], exclude: string[]) {
    const composition = composeGraph(sources, { secondOpinion: false });
    if (!composition.ok) throw new Error(composition.errors[0]?.message);
    return makeContract(composition.supergraphSdl, { name: 'c', include, exclude });
  }
  function guildContractOf(sources: typeof subgraphs, include: string[], exclude: string[]) {
    const services = sources.map(({ sdl, ...service }) => ({ ...service, typeDefs: parse(sdl) }));
    return composeSchemaContract(services, { include: new Set(include), exclude: new Set(exclude) }, true);
  }
  const sorted = (sdl: string) => printSchema(lexicographicSortSchema(buildSchema(sdl)));

  test('leaves out what is excluded and what can no longer be reached', () => {
    const contract = contractOf(subgraphs, [], ['internal']);
    const schema = contract.ok ? buildSchema(contract.apiSdl) : undefined;
    expect(schema?.getQueryType()?.toConfig().fields).toHaveProperty('user');
    expect(Object.keys(schema?.getQueryType()?.getFields() ?? {})).toEqual(['user', 'find']);
    expect(contract.ok && contract.apiSdl).not.toMatch(/note|TOP|token|secret/u);
    // Audit is still reached by the union.
    expect(schema?.getType('Audit')).toBeDefined();
    expect(contract.ok && contract.supergraphSdl).toMatch(/note: String @join__field\(graph: S0\).*@inaccessible/u);
  });

  test('keeps only fields that are included, or whose type is, as the contracts of Apollo do', () => {
    const contract = contractOf(subgraphs, ['public'], ['internal']);
    expect(contract.ok && sorted(contract.apiSdl)).toBe(
      sorted('type Query { user: User } type User { id: ID! name: String orders: [Order] } type Order { id: ID! total: Int }'),
    );
    // The contract of a contract is a valid supergraph again.
    expect(contract.ok && makeContract(contract.supergraphSdl, { name: 'd', include: [], exclude: [] }).ok).toBe(true);
  });

  test('is refused when no query is left', () => {
    expect(contractOf(subgraphs, ['nothing'], [])).toMatchObject({ ok: false, errors: [{ code: expect.any(String) }] });
  });

  test('has the public schema that the contract of @theguild/federation-composition has, for include and exclude lists', () => {
    for (const [include, exclude] of [
      [[], ['internal']],
      [[], ['public']],
      [['public'], []],
      [['public'], ['internal']],
    ] as [string[], string[]][]) {
      const [ours, theirs] = [contractOf(subgraphs, include, exclude), guildContractOf(subgraphs, include, exclude)];
      expect({ include, exclude, sdl: ours.ok && sorted(ours.apiSdl) }).toEqual({
        include,
        exclude,
        sdl: theirs.publicSdl && sorted(theirs.publicSdl),
      });
    }
  });

  test('has the public schema of @theguild/federation-composition for generated graphs and exclude lists', () => {
    const tag = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
    const field = fc.record({ to: fc.integer({ min: -1, max: 5 }), tag });
    const types = fc.array(fc.record({ tag, fields: fc.array(field, { minLength: 1, maxLength: 3 }) }), { minLength: 6, maxLength: 6 });
    const mark = (each: string | undefined) => (each === undefined ? '' : ` @tag(name: "${each}")`);
    fc.assert(
      fc.property(types, fc.subarray(['x', 'y'], { minLength: 1 }), (generated, exclude) => {
        const definitions = generated.map(({ tag: own, fields }, index) => {
          const lines = fields.map(({ to, tag: each }, at) => `f${at}: ${to < 0 ? 'Int' : `T${to}`}${mark(each)}`);
          return `type T${index}${mark(own)} { ${lines.join(' ')} }`;
        });
        const sources = toSubgraphs(`type Query { ok: Int t0: T0 t1: T1${mark('x')} } ${definitions.join(' ')}`);
        const [ours, theirs] = [contractOf(sources, [], exclude), guildContractOf(sources, [], exclude)];
        expect(ours.ok ? sorted(ours.apiSdl) : undefined).toBe(theirs.publicSdl && sorted(theirs.publicSdl));
      }),
      { numRuns: 60 },
    );
  });
});
