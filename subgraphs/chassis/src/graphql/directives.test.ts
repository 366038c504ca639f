import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { Fault } from '@trestle/schema/errors';
import { type ExecutionResult, buildSchema, createSourceEventStream, graphql, parse } from 'graphql';
import { type AuthRules, applyAuth } from './auth-directive.ts';
import type { RequestContext } from '../request/context.ts';
import { EventSelection, selectEvents } from '../events/outbox/event-selection.ts';
import { applyUpper } from './upper-directive.ts';

const SDL = `
  directive @auth(requires: Role = USER) on FIELD_DEFINITION
  directive @upper on FIELD_DEFINITION
  enum Role { USER MODERATOR ADMIN }
  type Query { people: [Person!]!, secret: String @auth(requires: ADMIN), hard: String! @auth }
  type Person { id: ID!, email: String! @auth(requires: ADMIN), plan: String @auth(requires: ADMIN), code: String @upper, codes: [String!] @upper }
`;
const isOwner = ({ id }: { id: string }, caller: Caller | null) => id === caller?.userId;
const rules: AuthRules = {
  owners: { 'Person.email': isOwner, 'Person.plan': isOwner },
  scopes: { 'Person.email': 'users:read', 'Person.plan': 'users:read' },
  masks: { 'Person.email': 'masked' },
};
const root = {
  people: [
    { id: 'a', email: 'a@x.y', plan: 'pro', code: 'abc', codes: ['d', 'e'] },
    { id: 'b', email: 'b@x.y', plan: 'free', code: null },
  ],
  secret: 'open',
  hard: 'yes',
};

async function run(
  source: string,
  role?: 'USER' | 'ADMIN',
  changes: Partial<Caller> = {},
): Promise<ExecutionResult & { denials: RequestContext['denials'] }> {
  const schema = buildSchema(SDL);
  applyUpper(schema);
  applyAuth(schema, rules);
  const contextValue: RequestContext = {
    caller: role ? createTestCaller({ userId: 'a', role, ...changes }) : null,
    requestId: 'r',
    denials: new Map(),
    idempotency: null,
  };
  return { ...(await graphql({ schema, source, rootValue: root, contextValue })), denials: contextValue.denials };
}
const codes = ({ errors }: ExecutionResult) =>
  errors?.map(({ originalError }) => (originalError instanceof Fault ? originalError.code : ''));

describe('@auth', () => {
  it('shows the mask of a denied non-null field and counts it by coordinate; the owner sees the value', async () => {
    const { data, errors, denials } = await run('{ people { email } }', 'USER');
    expect(data).toEqual({ people: [{ email: 'a@x.y' }, { email: 'masked' }] });
    expect(errors).toBeUndefined();
    expect([...denials.values()]).toEqual([{ coordinate: 'Person.email', requires: 'ADMIN', path: ['people', 1, 'email'], count: 1 }]);
    expect((await run('{ people { email } }')).denials.get('Person.email')?.count).toBe(2);
  });

  it('returns null and FORBIDDEN for a denied nullable field, and throws for a non-null field without a mask', async () => {
    const denied = await run('{ secret }', 'USER');
    expect([denied.data, codes(denied)]).toEqual([{ secret: null }, ['FORBIDDEN']]);
    const anonymous = await run('{ hard }');
    expect([anonymous.data, codes(anonymous)]).toEqual([null, ['UNAUTHORIZED']]);
  });

  describe('of a field with a scope that the credential lacks', () => {
    const scopesOf = ({ errors }: ExecutionResult) =>
      errors?.map(({ originalError }) => (originalError instanceof Fault ? originalError.requiredScopes : undefined));
    const limited: Partial<Caller> = { scopes: new Set(['orders:read']) };

    it('returns requiredScopes for the own nullable field, and none for that of another account', async () => {
      const own = await run('{ people { plan } }', 'USER', limited);
      expect([own.data, codes(own), scopesOf(own)]).toEqual([
        { people: [{ plan: null }, { plan: null }] },
        ['FORBIDDEN', 'FORBIDDEN'],
        [['users:read'], undefined],
      ]);
      expect(scopesOf(await run('{ people { plan } }', 'ADMIN', limited))).toEqual([['users:read'], ['users:read']]);
    });

    it('counts a masked field with requiredScopes, also when other accounts are masked for the role', async () => {
      const { denials } = await run('{ people { email } }', 'USER', limited);
      expect(denials.get('Person.email')).toMatchObject({ requires: 'ADMIN', count: 2, requiredScopes: ['users:read'] });
      expect((await run('{ people { email } }', 'USER')).denials.get('Person.email')).not.toHaveProperty('requiredScopes');
    });
  });

  it('allows callers with the role or a higher one', async () => {
    expect((await run('{ hard secret people { email } }', 'ADMIN')).data).toMatchObject({
      secret: 'open',
      hard: 'yes',
      people: [{ email: 'a@x.y' }, { email: 'b@x.y' }],
    });
    expect((await run('{ hard }', 'USER')).data).toEqual({ hard: 'yes' });
  });

  it('guards the start of a subscription, not each event', async () => {
    const schema = buildSchema(`${SDL} type Subscription { news: String! @auth(requires: ADMIN) }`);
    const field = schema.getSubscriptionType()?.getFields()['news'];
    if (field) field.subscribe = () => selectEvents('news');
    applyAuth(schema, rules);
    const subscribe = (caller: RequestContext['caller']) =>
      createSourceEventStream({
        schema,
        document: parse('subscription { news }'),
        contextValue: { caller, requestId: 'r', denials: new Map(), idempotency: null },
      });
    const caller = createTestCaller({ userId: 'a' });
    expect(codes((await subscribe(null)) as ExecutionResult)).toEqual(['UNAUTHORIZED']);
    expect(codes((await subscribe({ ...caller, role: 'USER' })) as ExecutionResult)).toEqual(['FORBIDDEN']);
    expect(await subscribe({ ...caller, role: 'ADMIN' })).toBeInstanceOf(EventSelection);
    expect(field?.resolve).toBeUndefined();
  });

  it('throws at start for a rule of a field without @auth, and for a mask of a nullable field', () => {
    const schema = buildSchema(SDL);
    expect(() => {
      applyAuth(schema, { masks: { 'Person.id': 'x' } });
    }).toThrow('no @auth');
    expect(() => {
      applyAuth(buildSchema(SDL), { masks: { 'Query.secret': 'x' } });
    }).toThrow('non-null leaf');
  });
});

describe('@upper', () => {
  it('converts strings to upper case, in lists too, and leaves null', async () => {
    const { data } = await run('{ people { code codes } }');
    expect(data).toEqual({
      people: [
        { code: 'ABC', codes: ['D', 'E'] },
        { code: null, codes: null },
      ],
    });
  });
});
