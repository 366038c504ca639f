import { describe, expect, it } from '@jest/globals';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { Fault } from '@trestle/schema/errors';
import { type ExecutionResult, buildSchema, graphql } from 'graphql';
import type { RequestContext } from '../request/context.ts';
import { applyAccessDirectives } from './access-directives.ts';

const DIRECTIVES = `
  directive @authenticated on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
  directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
`;
const SDL = `${DIRECTIVES}
  type Query { keeper: Keeper  sites: [Site]  open: Harbour  depth: Depth  state: State }
  type Keeper @requiresScopes(scopes: [["keepers:read"]]) { name: String }
  interface Place { name: String @requiresScopes(scopes: [["names:read"], ["all:read"]])  code: String }
  type Harbour implements Place { name: String  code: String  keepers: [Keeper] }
  interface Closed @authenticated { code: String }
  type Yard implements Closed { code: String  workers: Int }
  union Site = Harbour | Yard | Keeper
  scalar Depth @authenticated
  enum State @requiresScopes(scopes: [["states:read", "names:read"]]) { OPEN }
`;
const HARBOUR = { __typename: 'Harbour', name: 'Hamburg', code: 'HAM', keepers: [{ name: 'Ada' }] };
const root = {
  keeper: { name: 'Ada' },
  sites: [HARBOUR, { __typename: 'Yard', code: 'Y', workers: 7 }, { __typename: 'Keeper', name: 'Bob' }],
  open: HARBOUR,
  depth: 12,
  state: 'OPEN',
};

async function run(source: string, scopes?: readonly string[]): Promise<ExecutionResult> {
  const schema = buildSchema(SDL);
  applyAccessDirectives(schema);
  const caller = scopes ? createTestCaller({ scopes: new Set(scopes) }) : null;
  const contextValue: RequestContext = { caller, requestId: 'r', denials: new Map(), idempotency: null };
  return graphql({ schema, source, rootValue: root, contextValue });
}
const faults = ({ errors }: ExecutionResult) =>
  errors?.map(({ path, originalError }) => [path?.join('.'), originalError instanceof Fault ? originalError.code : '']);

describe('access directives in a subgraph', () => {
  it('guard every field that returns a type with one: an object, a scalar, an enum, in lists too', async () => {
    const query = '{ keeper { name } open { code keepers { name } } depth state }';
    const denied = await run(query, []);
    expect(denied.data).toEqual({ keeper: null, open: { code: 'HAM', keepers: null }, depth: 12, state: null });
    expect(faults(denied)).toEqual([
      ['keeper', 'FORBIDDEN'],
      ['open.keepers', 'FORBIDDEN'],
      ['state', 'FORBIDDEN'],
    ]);
    expect(faults(await run('{ depth }'))).toEqual([['depth', 'UNAUTHORIZED']]);
    const allowed = await run(query, ['keepers:read', 'states:read', 'names:read']);
    expect([allowed.data?.['keeper'], allowed.data?.['state'], allowed.errors]).toEqual([{ name: 'Ada' }, 'OPEN', undefined]);
  });

  it('guard the fields of a type that is reached through a union', async () => {
    const query = '{ sites { __typename ... on Keeper { name } ... on Yard { workers } } }';
    const [harbour, yard, keeper] = (await run(query, [])).data?.['sites'] as object[];
    expect([harbour, yard, keeper]).toEqual([
      { __typename: 'Harbour' },
      { __typename: 'Yard', workers: 7 },
      { __typename: 'Keeper', name: null },
    ]);
    expect(faults(await run(query))).toEqual([
      ['sites.1.workers', 'UNAUTHORIZED'],
      ['sites.2.name', 'UNAUTHORIZED'],
    ]);
  });

  it('guard the fields of the object types of an interface', async () => {
    expect((await run('{ open { name code } }', [])).data).toEqual({ open: { name: null, code: 'HAM' } });
    for (const scope of ['names:read', 'all:read'])
      expect((await run('{ open { name } }', [scope])).data).toEqual({ open: { name: 'Hamburg' } });
  });

  it.each([
    ['scopes that are not lists of lists', '@requiresScopes(scopes: [[]])', 'Query.a needs lists of scopes'],
    ['@policy, which only the gateway decides', '@policy(policies: [["x"]])', '@policy on Query.a'],
  ])('are refused at start with %s', (_, directive, message) => {
    const schema = buildSchema(`${DIRECTIVES} type Query { a: Int ${directive} }`);
    expect(() => {
      applyAccessDirectives(schema);
    }).toThrow(message);
  });
});
