/** `@authenticated`, `@requiresScopes` and `@policy`: what is planned, fetched and written for callers with different rights. */
import { describe, expect, it } from '@jest/globals';
import { type Access, NO_ACCESS } from '../access/access-rule.ts';
import { ANYBODY, composeSupergraph, holding, runFor, under } from './test-access.ts';

const HOME = composeSupergraph({
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
    const { rules, program, errors, data } = runFor(HOME, '{ open users { name } }', { answer: () => answerA });
    expect([rules, program.denials, errors, data]).toEqual([[], [], [], { open: 'yes', users: [{ name: 'Ada' }] }]);
  });
});

describe('@authenticated', () => {
  it('removes a field for an anonymous caller before planning, writes null and one error', () => {
    const { data, errors, fetches, faults } = runFor(HOME, '{ open me { name } }', { answer: () => answerA });
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
    const { data, errors } = runFor(HOME, '{ me { name } }', { access: ANYBODY, answer: () => answerA });
    expect([data, errors]).toEqual([{ me: { name: 'Ada' } }, []]);
  });

  it('on a scalar removes the fields that return it', () => {
    const { data, errors } = runFor(HOME, '{ users { name level } }', { answer: () => answerA });
    expect(data).toEqual({ users: [{ name: 'Ada', level: null }] });
    expect(errors).toMatchObject([{ path: ['users', '@', 'level'], extensions: { code: 'UNAUTHORIZED', coordinate: 'User.level' } }]);
  });

  it('sends no fetch when every root field is removed', () => {
    const { data, fetches, errors } = runFor(HOME, '{ me { name } again: me { id } }', { answer: () => answerA });
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
    const { data, errors } = runFor(HOME, '{ me { email } }', { access: holding(...scopes), answer: () => answerA });
    expect(data).toEqual({ me: isMet ? { email: 'ada@example.com' } : null });
    expect(errors.length).toBe(isMet ? 0 : 1);
  });

  it('propagates null from a non-null field, and names the scopes that are nearest', () => {
    const { data, errors, faults } = runFor(HOME, '{ open users { name email } }', { access: holding('read'), answer: () => answerA });
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
    expect(runFor(HOME, '{ me { color } }', { access: ANYBODY, answer: () => answerA }).data).toEqual({ me: { color: null } });
    expect(runFor(HOME, '{ me { color } }', { access: holding('colors'), answer: () => answerA }).data).toEqual({ me: { color: 'RED' } });
  });

  it('answers UNAUTHORIZED to an anonymous caller, so that it knows to sign in', () => {
    expect(runFor(HOME, '{ secret }', { answer: () => answerA }).errors).toMatchObject([{ extensions: { code: 'UNAUTHORIZED' } }]);
  });
});

describe('@policy', () => {
  it('is met by a caller for which the policy holds, and by nobody else', () => {
    const query = '{ me { phone } }';
    expect(runFor(HOME, query, { access: under('staff'), answer: () => answerA }).data).toEqual({ me: { phone: '1' } });
    const { data, errors } = runFor(HOME, query, { access: under('Staff'), answer: () => answerA });
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
    const { data, errors, fetches } = runFor(HOME, query, { access: ANYBODY, answer });
    expect(fetches).toHaveLength(2);
    expect(data).toBeNull();
    expect(errors.map(({ extensions }) => extensions.requiredScopes)).toEqual([['ids'], ['ids']]);
    const allowed = runFor(HOME, query, { access: holding('ids'), answer });
    expect(allowed.data).toEqual({ users: [{ key: 'u1', id: 'u1', orders: [{ __typename: 'Order' }] }] });
  });
});

describe('a removed field', () => {
  it('leaves its object and its mutation, which is executed', () => {
    const { data, fetches } = runFor(HOME, 'mutation { rename(name: "x") { phone } }', { access: ANYBODY, answer: () => answerA });
    expect(data).toEqual({ rename: { phone: null } });
    expect(fetches).toEqual([expect.stringContaining('rename')]);
    expect(fetches[0]).not.toContain('phone');
  });

  it('is reported only when @skip and @include select it', () => {
    const query =
      'query ($a: Boolean!, $b: Boolean = true) { open ...F @skip(if: $b) } fragment F on Query { me @include(if: $a) { name } }';
    const errors = (variables: object) => runFor(HOME, query, { variables: { ...variables }, answer: () => answerA });
    expect(errors({ a: true }).errors).toEqual([]);
    expect(errors({ a: true, b: false }).errors).toHaveLength(1);
    expect(errors({ a: true, b: false }).data).toEqual({ open: 'yes', me: null });
    expect(errors({ a: false, b: false }).data).toEqual({ open: 'yes' });
  });

  it('is removed in every fragment and reported once for each path', () => {
    const query = '{ me { ...F ...G } one: me { ...G } } fragment F on User { phone ...G } fragment G on User { phone name }';
    const { errors, data } = runFor(HOME, query, { access: ANYBODY, answer: () => ({ ...answerA, one: USER }) });
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
    const { errors } = runFor(HOME, query, {
      access: ANYBODY,
      answer: () => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a${String(i)}`, USER])),
    });
    expect(errors).toHaveLength(100);
  });
});

describe('introspection', () => {
  it('is the same for every caller, without the directives', () => {
    const query = '{ __schema { directives { name } } __type(name: "User") { fields { name } } me { name } }';
    const types = '{ __schema { types { name } } }';
    const program = (source: string, access: Access) =>
      runFor(HOME, source, { access, answer: () => answerA }).program.introspection?.fixed;
    expect(program(query, NO_ACCESS)).toEqual(program(query, ANYBODY));
    expect(JSON.stringify(program(query, NO_ACCESS))).not.toMatch(/authenticated|requiresScopes|policy/);
    expect(JSON.stringify(program(types, NO_ACCESS))).not.toMatch(/Scope|Policy/);
  });
});

describe('public sharing', () => {
  it('is off for a subscription with a protected field, whose events depend on the caller', () => {
    const sdl = composeSupergraph({
      a: 'type Query { a: Int } type Subscription { ticked: Tick @tag(name: "public") } type Tick @tag(name: "public") { n: Int secret: Int @authenticated }',
    });
    const answer = () => null;
    expect(runFor(sdl, 'subscription { ticked { n } }', { answer }).program.isPublic).toBe(true);
    const denied = runFor(sdl, 'subscription { ticked { n secret } }', { answer }).program;
    expect(denied.isPublic).toBe(false);
    expect(denied.source?.operation).not.toContain('secret');
  });
});
