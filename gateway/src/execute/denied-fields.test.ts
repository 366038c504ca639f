/** `@authenticated`, `@requiresScopes` and `@policy`: what is planned, fetched and written for callers with different rights. No network. */
import { composeServices } from '@apollo/composition';
import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { parse } from 'graphql';
import { type Access, NO_ACCESS, decideAll } from '../access/access-rule.ts';
import { toDenialErrors } from '../access/denial.ts';
import { type Executed, type ExecutionRequest, execute } from './execute.ts';
import { readVariables } from './variables.ts';
import { DEFAULT_LIMITS } from '../limits/limits.ts';
import { link } from '../program/operation.ts';
import type { Data } from '../program/program.ts';
import type { SubgraphResult } from '../program/result.ts';
import type { RequestContext } from '../request/context.ts';
import { type Planner, createPlanner } from '../plan/planner.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@external", "@requires", "@shareable", "@tag", "@authenticated", "@requiresScopes", "@policy"])';

function compose(sdls: Record<string, string>): string {
  const services = Object.entries(sdls).map(([name, sdl]) => ({ name, url: 'http://x/', typeDefs: parse(`${LINK} ${sdl}`) }));
  const { supergraphSdl, errors } = composeServices(services);
  if (errors) throw new Error(errors.map(({ message }) => message).join());
  return supergraphSdl;
}

const ANYBODY: Access = { ...NO_ACCESS, isAuthenticated: true };
const holding = (...scopes: string[]): Access => ({ ...ANYBODY, scopes: new Set(scopes) });
const under = (...policies: string[]): Access => ({ ...ANYBODY, policies: new Set(policies) });

/** Fragments may count many times as aliases and selections. */
const LIMITS = { ...DEFAULT_LIMITS, maxAliases: 100_000, maxSelections: 100_000 };
const planners = new Map<string, Planner>();

interface Run {
  readonly access?: Access;
  readonly variables?: Record<string, unknown>;
  readonly answer: (service: string) => object | null;
}

/** Executes an operation for a caller; `answer` returns the data of a subgraph's next fetch. */
function run(sdl: string, query: string, { access = NO_ACCESS, variables = {}, answer }: Run) {
  const planner = planners.get(sdl) ?? createPlanner(sdl, LIMITS);
  planners.set(sdl, planner);
  const request = { query, operationName: undefined, labels: [] };
  const first = planner.prepare(request);
  const prepared = 'rules' in first ? planner.prepare({ ...request, outcome: decideAll(first.rules, access) }) : first;
  if (!('program' in prepared)) throw new Error(JSON.stringify(prepared));
  const operation = link(prepared.program);
  const conditions = readVariables(prepared.program.variables, variables);
  const fetches: string[] = [];
  const send: ExecutionRequest['send'] = ({ service, body }, done) => {
    fetches.push((JSON.parse(body) as { query: string }).query);
    done(null, { data: structuredClone(answer(service)) } as SubgraphResult);
  };
  let executed: Executed | undefined;
  execute({ operation, variables, conditions, context: {} as RequestContext, send }, (done) => {
    executed = done;
  });
  const { data, errors: found } = executed as unknown as Executed;
  const written = { conditions, introspection: {}, buffer: Buffer.alloc(4096), maxBytes: 1e6, faults: [], noteMissing: found.noteMissing };
  const { bytes, length } = operation.compiled.write(data, written) ?? operation.compiled.explain(data, written);
  const caller = access.isAuthenticated ? ({ scopes: access.scopes } as Caller) : null;
  return {
    data: (JSON.parse(`${bytes.toString('utf8', 0, length)}}`) as { data: Data | null }).data,
    errors: toDenialErrors(prepared.program.denials, conditions, caller),
    faults: found.finish(written.faults),
    fetches,
    rules: 'rules' in first ? first.rules : [],
    program: prepared.program,
  };
}

const HOME = compose({
  a: `type Query { me: User @authenticated  users: [User!]!  open: String  secret: String @requiresScopes(scopes: [["s:read"]]) }
      type Mutation { rename(name: String): User }
      type User @key(fields: "id") { id: ID!  name: String  email: String! @requiresScopes(scopes: [["mail", "read"], ["admin"]])  phone: String @policy(policies: [["staff"]]) level: Level color: Color }
      scalar Level @authenticated
      enum Color @requiresScopes(scopes: [["colors"]]) { RED }`,
  b: 'type User @key(fields: "id") { id: ID! @requiresScopes(scopes: [["ids"]])  orders: [Order] @authenticated } type Order { total: Int! @requiresScopes(scopes: [["orders:read"]]) }',
});
const USER = { __typename: 'User', id: 'u1', name: 'Ada', email: 'ada@example.com', phone: '1', level: 3, color: 'RED' };
const answerA = { me: USER, users: [USER], open: 'yes', secret: 'no', rename: USER };

describe('an operation without protected fields', () => {
  it('has one program for all callers', () => {
    const { rules, program, errors, data } = run(HOME, '{ open users { name } }', { answer: () => answerA });
    expect([rules, program.denials, errors, data]).toEqual([[], [], [], { open: 'yes', users: [{ name: 'Ada' }] }]);
  });
});

describe('@authenticated', () => {
  it('removes a field for an anonymous caller before planning, writes null and one error', () => {
    const { data, errors, fetches, faults } = run(HOME, '{ open me { name } }', { answer: () => answerA });
    expect(data).toEqual({ open: 'yes', me: null });
    expect(errors).toEqual([
      {
        message: 'Field `Query.me` requires authentication. Send a valid access token.',
        path: ['me'],
        extensions: { code: 'UNAUTHORIZED', coordinate: 'Query.me' },
      },
    ]);
    expect(fetches.join()).not.toContain('me');
    expect(faults).toEqual([]);
  });

  it('leaves the field to every caller with a credential', () => {
    const { data, errors } = run(HOME, '{ me { name } }', { access: ANYBODY, answer: () => answerA });
    expect([data, errors]).toEqual([{ me: { name: 'Ada' } }, []]);
  });

  it('on a scalar removes the fields that return it', () => {
    const { data, errors } = run(HOME, '{ users { name level } }', { answer: () => answerA });
    expect(data).toEqual({ users: [{ name: 'Ada', level: null }] });
    expect(errors).toMatchObject([{ path: ['users', '@', 'level'], extensions: { code: 'UNAUTHORIZED', coordinate: 'User.level' } }]);
  });

  it('sends no fetch when every root field is removed', () => {
    const { data, fetches, errors } = run(HOME, '{ me { name } again: me { id } }', { answer: () => answerA });
    expect([data, fetches]).toEqual([{ me: null, again: null }, []]);
    expect(errors.map(({ path }) => path)).toEqual([['me'], ['again']]);
  });
});

describe('@requiresScopes', () => {
  it.each([
    ['one alternative in full', ['admin'], true],
    ['the other one', ['mail', 'read'], true],
    ['a part of one', ['mail'], false],
    ['other scopes', ['mail:read', 'administrator', ''], false],
  ])('is met by %s', (_, scopes, isMet) => {
    const { data, errors } = run(HOME, '{ me { email } }', { access: holding(...scopes), answer: () => answerA });
    expect(data).toEqual({ me: isMet ? { email: 'ada@example.com' } : null });
    expect(errors.length).toBe(isMet ? 0 : 1);
  });

  it('propagates null from a non-null field, and names the scopes that are nearest', () => {
    const { data, errors, faults } = run(HOME, '{ open users { name email } }', { access: holding('read'), answer: () => answerA });
    expect([data, faults]).toEqual([null, []]);
    expect(errors).toEqual([
      {
        message: 'Field `User.email` requires the scopes `mail`, `read`. Use an access token with them.',
        path: ['users', '@', 'email'],
        extensions: { code: 'FORBIDDEN', coordinate: 'User.email', reason: 'insufficient_scope', requiredScopes: ['mail', 'read'] },
      },
    ]);
  });

  it('on an enum removes the fields that return it', () => {
    expect(run(HOME, '{ me { color } }', { access: ANYBODY, answer: () => answerA }).data).toEqual({ me: { color: null } });
    expect(run(HOME, '{ me { color } }', { access: holding('colors'), answer: () => answerA }).data).toEqual({ me: { color: 'RED' } });
  });

  it('answers UNAUTHORIZED to an anonymous caller, so that it knows to sign in', () => {
    expect(run(HOME, '{ secret }', { answer: () => answerA }).errors).toMatchObject([{ extensions: { code: 'UNAUTHORIZED' } }]);
  });
});

describe('@policy', () => {
  it('is met by a caller for which the policy holds, and by nobody else', () => {
    const query = '{ me { phone } }';
    expect(run(HOME, query, { access: under('staff'), answer: () => answerA }).data).toEqual({ me: { phone: '1' } });
    const { data, errors } = run(HOME, query, { access: under('Staff'), answer: () => answerA });
    expect(data).toEqual({ me: { phone: null } });
    expect(errors).toMatchObject([{ path: ['me', 'phone'], extensions: { code: 'FORBIDDEN', coordinate: 'User.phone' } }]);
    expect(JSON.stringify(errors)).not.toContain('staff');
  });
});

describe('a key that the client may not read', () => {
  it('is written as null although a fetch of another field needs it', () => {
    const query = '{ users { key: id id orders { __typename } } }';
    const answer = (service: string) =>
      service === 'a' ? { users: [{ ...USER, key: 'u1' }] } : { _entities: [{ orders: [{ __typename: 'Order' }] }] };
    const { data, errors, fetches } = run(HOME, query, { access: ANYBODY, answer });
    expect(fetches).toHaveLength(2);
    expect(data).toBeNull();
    expect(errors.map(({ extensions }) => extensions['requiredScopes'])).toEqual([['ids'], ['ids']]);
    const allowed = run(HOME, query, { access: holding('ids'), answer });
    expect(allowed.data).toEqual({ users: [{ key: 'u1', id: 'u1', orders: [{ __typename: 'Order' }] }] });
  });
});

describe('a removed field', () => {
  it('leaves its object and its mutation, which is executed', () => {
    const { data, fetches } = run(HOME, 'mutation { rename(name: "x") { phone } }', { access: ANYBODY, answer: () => answerA });
    expect(data).toEqual({ rename: { phone: null } });
    expect(fetches).toEqual([expect.stringContaining('rename')]);
    expect(fetches[0]).not.toContain('phone');
  });

  it('is reported only when @skip and @include select it', () => {
    const query =
      'query ($a: Boolean!, $b: Boolean = true) { open ...F @skip(if: $b) } fragment F on Query { me @include(if: $a) { name } }';
    const errors = (variables: object) => run(HOME, query, { variables: { ...variables }, answer: () => answerA });
    expect(errors({ a: true }).errors).toEqual([]);
    expect(errors({ a: true, b: false }).errors).toHaveLength(1);
    expect(errors({ a: true, b: false }).data).toEqual({ open: 'yes', me: null });
    expect(errors({ a: false, b: false }).data).toEqual({ open: 'yes' });
  });

  it('is removed in every fragment and reported once for each path', () => {
    const query = '{ me { ...F ...G } one: me { ...G } } fragment F on User { phone ...G } fragment G on User { phone name }';
    const { errors, data } = run(HOME, query, { access: ANYBODY, answer: () => ({ ...answerA, one: USER }) });
    expect(errors.map(({ path }) => path.join('.'))).toEqual(['me.phone', 'one.phone']);
    expect(data).toEqual({ me: { phone: null, name: 'Ada' }, one: { phone: null, name: 'Ada' } });
  });

  it('is bounded in errors, however often fragments spread each other', () => {
    const levels = Array.from(
      { length: 12 },
      (_, i) =>
        `fragment F${String(i)} on User { ${Array.from({ length: 2 }, (_, n) => `p${String(i)}_${String(n)}: phone ...F${String(i + 1)}`).join(' ')} }`,
    );
    const query = `{ ${Array.from({ length: 20 }, (_, i) => `a${String(i)}: me { ...F0 }`).join(' ')} } ${levels.join(' ')} fragment F12 on User { phone }`;
    const { errors } = run(HOME, query, {
      access: ANYBODY,
      answer: () => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${String(i)}`, USER])),
    });
    expect(errors).toHaveLength(100);
  });
});

const POSTS = compose({
  a: `type Query { posts: [Post!]  blogs: [Blog]  anything: [Any]  shapes: [Shape] }
      interface Post { id: ID! title: String }
      type Blog implements Post { id: ID! title: String }
      type Draft implements Post @requiresScopes(scopes: [["drafts"]]) { id: ID! title: String notes: String }
      interface Shape { area: Int side: Int }
      type Square implements Shape { area: Int side: Int @authenticated }
      type Circle implements Shape { area: Int side: Int }
      union Any = Blog | Draft`,
});
const BLOG = { __typename: 'Blog', id: 'b', title: 'B' };
const DRAFT = { __typename: 'Draft', id: 'd', title: 'D', notes: 'n' };
const posts = { posts: [BLOG, DRAFT], blogs: [BLOG], anything: [BLOG, DRAFT] };

describe('interfaces and unions', () => {
  it('demand on a field of an interface what each object type demands', () => {
    const query = '{ shapes { area side } }';
    const answer = () => ({ shapes: [{ __typename: 'Circle', area: 1, side: 2 }] });
    expect(run(POSTS, query, { answer }).data).toEqual({ shapes: [{ area: 1, side: null }] });
    expect(run(POSTS, query, { access: ANYBODY, answer }).data).toEqual({ shapes: [{ area: 1, side: 2 }] });
  });

  it('demand on a field in a fragment what its own type demands', () => {
    const query = '{ shapes { ... on Circle { side } ... on Square { area side } } }';
    const shapes = [
      { __typename: 'Circle', side: 2 },
      { __typename: 'Square', area: 4, side: 2 },
    ];
    const { data, errors } = run(POSTS, query, { answer: () => ({ shapes }) });
    expect(data).toEqual({ shapes: [{ side: 2 }, { area: 4, side: null }] });
    expect(errors.map(({ extensions }) => extensions['coordinate'])).toEqual(['Square.side']);
  });

  it('keep a field that is denied on the interface and allowed on the object type', () => {
    const shapes = [{ __typename: 'Circle', side: 2 }, { __typename: 'Square' }];
    const { data } = run(POSTS, '{ shapes { side ... on Circle { side } } }', { answer: () => ({ shapes }) });
    expect(data).toEqual({ shapes: [{ side: 2 }, { side: null }] });
  });

  it('demand for an interface with a protected type what that type demands', () => {
    const { data, fetches } = run(POSTS, '{ posts { id } blogs { id } }', { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({ posts: null, blogs: [{ id: 'b' }] });
    expect(fetches.join()).not.toContain('posts');
  });

  it('deny the fields in a fragment on a protected type', () => {
    const query = '{ anything { __typename ... on Blog { title } ... on Draft { title notes } } }';
    const { data, fetches, errors } = run(POSTS, query, { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({
      anything: [
        { __typename: 'Blog', title: 'B' },
        { __typename: 'Draft', title: null, notes: null },
      ],
    });
    expect(fetches.join()).not.toContain('notes');
    expect(errors.map(({ extensions }) => extensions['coordinate'])).toEqual(['Draft.title', 'Draft.notes']);
    expect(run(POSTS, query, { access: holding('drafts'), answer: () => posts }).errors).toEqual([]);
  });

  it('demand the same where an older composition put no rules on the interface', () => {
    const old = POSTS.replace(/(interface Post\n {2}@join__type\(graph: A\)\n) {2}@requiresScopes.*\n/, '$1');
    expect(old).not.toBe(POSTS);
    const { data } = run(old, '{ posts { id } }', { access: ANYBODY, answer: () => posts });
    expect(data).toEqual({ posts: null });
  });
});

describe('introspection', () => {
  it('is the same for every caller, without the directives', () => {
    const query = '{ __schema { directives { name } } __type(name: "User") { fields { name } } me { name } }';
    const types = '{ __schema { types { name } } }';
    const program = (source: string, access: Access) => run(HOME, source, { access, answer: () => answerA }).program.introspection?.fixed;
    expect(program(query, NO_ACCESS)).toEqual(program(query, ANYBODY));
    expect(JSON.stringify(program(query, NO_ACCESS))).not.toMatch(/authenticated|requiresScopes|policy/);
    expect(JSON.stringify(program(types, NO_ACCESS))).not.toMatch(/Scope|Policy/);
  });
});

describe('public sharing', () => {
  it('is off for a subscription with a protected field, whose events depend on the caller', () => {
    const sdl = compose({
      a: 'type Query { a: Int } type Subscription { ticked: Tick @tag(name: "public") } type Tick @tag(name: "public") { n: Int secret: Int @authenticated }',
    });
    const answer = () => null;
    expect(run(sdl, 'subscription { ticked { n } }', { answer }).program.isPublic).toBe(true);
    const denied = run(sdl, 'subscription { ticked { n secret } }', { answer }).program;
    expect(denied.isPublic).toBe(false);
    expect(denied.source?.operation).not.toContain('secret');
  });
});
