import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { buildSchema, isEnumType, isInputObjectType, isInterfaceType, isObjectType, parse, printType } from 'graphql';
import { compose, formatProblem } from './compose.ts';
import { readApiSdl, readSubgraphSdl, schemaPath } from './sdl.ts';
import { SUBGRAPHS, SUBGRAPH_NAMES } from './subgraphs.ts';

const LINK = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@shareable"])';
const source = (name: string, sdl: string) => ({ name, url: `http://localhost/${name}`, file: `schema/${name}.graphql`, sdl });

describe('compose', () => {
  it('returns the supergraph.graphql and api.graphql that are checked in', () => {
    const result = compose(
      SUBGRAPH_NAMES.map((name) => ({
        ...source(name, readSubgraphSdl(name)),
        url: `http://localhost:${String(SUBGRAPHS[name].port)}/graphql`,
      })),
    );
    expect(result).toEqual({ ok: true, supergraphSdl: readFileSync(schemaPath('supergraph.graphql'), 'utf8'), apiSdl: readApiSdl() });
  });

  it('reports file, line and column of a syntax error', () => {
    const result = compose([source('users', `${LINK}\ntype Query {\n  user(: ID\n}`)]);
    expect(!result.ok && result.problems.map(formatProblem)).toEqual([
      expect.stringMatching(/^schema\/users\.graphql:3:8 GRAPHQL_PARSE_FAILED /),
    ]);
  });

  it('reports file, line and column of both definitions when two subgraphs declare different types for a field', () => {
    const result = compose([
      source('users', `${LINK}\ntype Query { a: Thing }\ntype Thing @key(fields: "id") {\n  id: ID!\n  size: Int!\n}`),
      source('orders', `${LINK}\ntype Query { b: Thing }\ntype Thing @key(fields: "id") {\n  id: ID!\n  size: String!\n}`),
    ]);
    const text = result.ok ? '' : result.problems.map(formatProblem).join('\n');
    expect(text).toMatch(/schema\/users\.graphql:5:3 /);
    expect(text).toMatch(/schema\/orders\.graphql:5:3 /);
  });

  it('reports the location of a key that names an unknown field', () => {
    const result = compose([source('content', `${LINK}\ntype Query { a: Post }\ntype Post @key(fields: "nope") {\n  id: ID!\n}`)]);
    expect(!result.ok && result.problems.map(formatProblem).join()).toMatch(/schema\/content\.graphql:3:\d+ KEY_INVALID_FIELDS/);
  });
});

describe('api.graphql', () => {
  const api = buildSchema(readApiSdl());
  const print = (name: string) => {
    const type = api.getType(name);
    if (!type) throw new Error(`Type ${name} does not exist`);
    return printType(type)
      .replace(/(?<!\s)\s*"""[\s\S]*?"""/g, '')
      .trim();
  };

  it.each([
    [
      'User',
      [
        'id: ID!',
        'email: String!',
        'name: String!',
        'bio: String\n',
        'age: Int\n',
        'role: Role!',
        'posts: [Post!]!',
        'createdAt: DateTime!',
        'oldField: String @deprecated(reason:',
        'orders: [Order!]!',
      ],
    ],
    ['Post', ['id: ID!', 'title: String!', 'comments(limit: Int = 10, after: ID, first: Int): CommentConnection!']],
    ['AuthPayload', ['token: String!', 'user: User!']],
    ['UserConnection', ['edges: [UserEdge!]!', 'pageInfo: PageInfo!', 'totalCount: Int!']],
    ['UserEdge', ['cursor: String!', 'node: User!']],
    ['PageInfo', ['hasNextPage: Boolean!', 'hasPreviousPage: Boolean!', 'startCursor: String\n', 'endCursor: String\n']],
    ['SearchResult', ['union SearchResult =', 'User', 'Post', 'Comment']],
    ['CreateUserInput', ['email: String!', 'name: String!', 'password: String!', 'bio: String\n']],
    ['PaginationInput', ['page: Int = 1', 'limit: Int = 10']],
    [
      'Query',
      [
        'user(id: ID!): User\n',
        'users(pagination: PaginationInput, role: Role): [User!]!',
        'me: User\n',
        'searchUsers(query: String!): [User!]!',
      ],
    ],
    [
      'Mutation',
      [
        'createUser(input: CreateUserInput!): User!',
        'input: UpdateUserInput!',
        'deleteUser(',
        'login(email: String!, password: String!): AuthPayload!',
      ],
    ],
    ['Subscription', ['userCreated: User!', 'messageAdded(channelId: ID!): Message!']],
  ])('declares %s exactly as spec §2.3 and §4.5 define it', (name, parts) => {
    const text = print(name);
    for (const part of parts) expect(text).toContain(part);
  });

  it('declares the enum, the interface and the scalars of spec §2.2 and §2.3', () => {
    expect(
      print('Role')
        .match(/[A-Z]{4,}/g)
        ?.sort(),
    ).toEqual(['ADMIN', 'MODERATOR', 'USER']);
    expect(print('User')).toMatch(/^type User implements Node/);
    for (const scalar of ['DateTime', 'JSON', 'Upload']) expect(print(scalar)).toBe(`scalar ${scalar}`);
  });

  it('has a description for every type, field and enum value', () => {
    const missing = Object.values(api.getTypeMap()).flatMap((type) => {
      if (type.name.startsWith('__') || ['String', 'Int', 'Boolean', 'ID', 'Float'].includes(type.name)) return [];
      const members =
        isObjectType(type) || isInputObjectType(type) || isInterfaceType(type)
          ? Object.values(type.getFields())
          : isEnumType(type)
            ? type.getValues()
            : [];
      return [type, ...members].filter(({ description }) => !description).map(({ name }) => `${type.name}.${name}`);
    });
    expect(missing).toEqual([]);
  });
});

describe.each(SUBGRAPH_NAMES)('%s.graphql', (name) => {
  it('links the federation specification, imports @key and declares the directives of spec §2.4', () => {
    const sdl = readSubgraphSdl(name);
    expect(() => parse(sdl)).not.toThrow();
    expect(sdl).toMatch(/@link\(\s*url: "https:\/\/specs\.apollo\.dev\/federation\/v2\.\d+",?\s*import: \[\s*"@key"/);
    expect(sdl).toContain('directive @auth(requires: Role = USER) on FIELD_DEFINITION');
    expect(sdl).toContain('directive @upper on FIELD_DEFINITION');
  });
});

describe('type User', () => {
  it('is defined by users.graphql and extended by orders.graphql with an external id and orders', () => {
    expect(readSubgraphSdl('orders')).toMatch(/type User @key\(fields: "id"\)[^{]*\{[^}]*id: ID! @external[\s\S]*?orders: \[Order!\]!/);
    expect(readSubgraphSdl('users')).toMatch(
      /type User implements Node @key\(fields: "id"\)[\s\S]*email: String! @auth\(requires: ADMIN\)/,
    );
  });
});
