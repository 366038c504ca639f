/** `@authenticated`, `@requiresScopes` and `@policy` in both engines: real subgraphs, real tokens, what each caller gets and what is fetched. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, compose, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type AccessSettings, PERSON, subgraphs, tokenOf, writeAccessSettings } from './harbours.ts';

let settings: AccessSettings;
let env: Record<string, string>;
beforeAll(async () => {
  settings = await writeAccessSettings();
  env = settings.env;
});
afterAll(() => settings.remove());

describe.each(['trestle', 'apollo'])('the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(subgraphs, { env, args: ['--auth', 'on', '--engine', engine] });
  });
  afterAll(() => federation.stop());
  afterEach(() => void federation.received.splice(0));

  const ask = async (query: string, token?: string, variables?: Record<string, unknown>) => {
    const reply = await federation.ask(query, variables, token === undefined ? {} : { authorization: `Bearer ${token}` });
    const errors = (reply.body.errors ?? []).map(({ path, extensions: { code, coordinate } }) => [
      (path ?? []).join('.'),
      code,
      coordinate,
    ]);
    return { status: reply.status, data: reply.body.data, errors, body: reply.body };
  };
  const fetched = () => federation.received.map(({ query }) => query).join('\n');

  it('answers 200 with partial data, and does not fetch what an anonymous caller may not read', async () => {
    const { status, data, errors } = await ask('{ harbours { name depth } }');
    expect([status, data]).toEqual([200, { harbours: [{ name: 'Hamburg', depth: null }] }]);
    expect(errors).toEqual([['harbours.@.depth', 'UNAUTHORIZED', 'Harbour.depth']]);
    expect(fetched()).not.toContain('depth');
    expect((await ask('{ harbours { name depth } }', PERSON)).data).toEqual({ harbours: [{ name: 'Hamburg', depth: 12.5 }] });
  });

  it('refuses a document that has the form of the cache key of what another caller executed', async () => {
    const query = '{ log depths: harbours { depth } }';
    expect((await ask(query, PERSON)).status).toBe(200);
    federation.received.splice(0);
    const outcomes = ['0', '1', '00', '01', '10', '11'];
    const texts = outcomes.flatMap((outcome) => [`\0${outcome}\n${query}`, `\0v${outcome}\n${query}`, `\0v${outcome}\n\0t${query}`]);
    for (const text of [...texts, `\x01${query}`, `\0d${query}`]) expect([text, (await ask(text)).status]).toEqual([text, 400]);
    expect(federation.received).toEqual([]);
  });

  it('propagates null from a non-null root field, and answers 401 when nothing else is wrong', async () => {
    const { status, data, errors } = await ask('{ harbours { name } harbour { name } }');
    expect([status, data]).toEqual([401, null]);
    expect(errors).toEqual([['harbour', 'UNAUTHORIZED', 'Query.harbour']]);
  });

  it('answers without a fetch when every root field is removed', async () => {
    const query = '{ log a: log }';
    expect((await ask(query)).data).toEqual({ log: null, a: null });
    expect((await ask(query, PERSON)).errors).toEqual([
      ['log', 'FORBIDDEN', 'Query.log'],
      ['a', 'FORBIDDEN', 'Query.log'],
    ]);
    expect(federation.received).toEqual([]);
  });

  it('names the scopes that a caller lacks, and accepts each alternative', async () => {
    const query = '{ harbours { keeper { name } } }';
    const { body } = await ask(query, tokenOf(['messages:read']));
    expect(body.errors?.[0]).toMatchObject({
      message: 'Field `Harbour.keeper` requires the scopes `users:read`, `messages:read`. Use an access token with them.',
      path: ['harbours', '@', 'keeper'],
      extensions: {
        code: 'FORBIDDEN',
        reason: 'insufficient_scope',
        requiredScopes: ['users:read', 'messages:read'],
        requestId: expect.any(String),
      },
    });
    const seen = { harbours: [{ keeper: { name: 'Ada' } }] };
    expect((await ask(query, tokenOf(['messages:read', 'users:read']))).data).toEqual(seen);
    expect((await ask(query, tokenOf(['account:manage']))).data).toEqual(seen);
    expect((await ask(query, tokenOf(['orders:read', 'users:read']))).data).toEqual({ harbours: [{ keeper: null }] });
  });

  it('enforces the scopes of any graph, also those that this system does not know', async () => {
    const query = '{ harbours { crane } }';
    expect((await ask(query, tokenOf(['cranes:operate']))).data).toEqual({ harbours: [{ crane: 'idle' }] });
    const { data, body } = await ask(query, tokenOf(['cranes:see', 'orders:read']));
    expect(data).toEqual({ harbours: [{ crane: null }] });
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN', requiredScopes: ['cranes:operate'] });
  });

  it('sends no fetch to a subgraph of which every field is denied, and fetches the key that another field needs', async () => {
    const query = 'query ($ship: String) { harbours { name fee(ship: $ship) } }';
    expect((await ask(query, PERSON, { ship: 'x' })).data).toEqual({ harbours: [{ name: 'Hamburg', fee: null }] });
    expect(federation.received.map(({ subgraph }) => subgraph)).toEqual(['places']);
    expect((await ask(query, tokenOf(['payments:read']))).data).toEqual({ harbours: [{ name: 'Hamburg', fee: 100 }] });
    expect((await ask('{ harbours { berths fee } }', PERSON)).data).toEqual({ harbours: [{ berths: 4, fee: null }] });
  });

  it('executes a mutation of which fields are denied, and not one that is denied', async () => {
    expect((await ask('mutation { rename(name: "x") { depth } close }')).data).toEqual({ rename: { depth: null }, close: null });
    expect(fetched()).toContain('rename');
    expect(fetched()).not.toContain('close');
    expect((await ask('mutation { close }', tokenOf(['posts:write']))).data).toEqual({ close: true });
  });

  it('denies by object type behind a union, in named fragments, under aliases', async () => {
    const query =
      'query { s: sites { __typename ...H ... on Yard { w: workers name } } } fragment H on Place { title: name ... on Harbour { depth } }';
    const { data, errors } = await ask(query);
    expect(data).toEqual({
      s: [
        { __typename: 'Harbour', title: 'Hamburg', depth: null },
        { __typename: 'Yard', w: null, name: 'Yard', title: 'Yard' },
      ],
    });
    expect(errors.map(([, , coordinate]) => coordinate).sort()).toEqual(['Harbour.depth', 'Yard.workers']);
    expect((await ask(query, tokenOf(['orders:read']))).errors).toEqual([]);
  });

  it('decides a policy by role and scopes, all of one alternative', async () => {
    const query = '{ log }';
    expect((await ask(query, tokenOf([], 'ADMIN'))).data).toEqual({ log: ['open'] });
    expect((await ask(query, tokenOf(['posts:read']))).data).toEqual({ log: ['open'] });
    expect((await ask(query, PERSON)).errors).toEqual([['log', 'FORBIDDEN', 'Query.log']]);
  });

  it('reports a field only where @skip and @include select it, with the default of the variable', async () => {
    const query = 'query ($all: Boolean = false) { harbours { name depth @include(if: $all) } }';
    expect((await ask(query)).body).toEqual({ data: { harbours: [{ name: 'Hamburg' }] } });
    expect((await ask(query, undefined, { all: true })).errors).toHaveLength(1);
  });

  it('refuses an invalid document before it looks at any rule, and shows the same schema to all callers', async () => {
    expect((await ask('{ harbour { nonsense } }')).errors).toEqual([['', 'VALIDATION_ERROR', undefined]]);
    const query = '{ __schema { directives { name } types { name } } }';
    expect((await ask(query)).data).toEqual((await ask(query, PERSON)).data);
    expect(JSON.stringify((await ask(query)).data)).not.toMatch(/authenticated|scopes?|policy/i);
  });

  it('keeps apart the plans of callers that come at the same time', async () => {
    const query = 'query Apart { harbours { depth keeper { name } } }';
    const tokens = [undefined, PERSON, tokenOf(['account:manage'])];
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => ask(query, tokens[i % 3])));
    const expected = [
      { depth: null, keeper: null },
      { depth: 12.5, keeper: null },
      { depth: 12.5, keeper: { name: 'Ada' } },
    ];
    answers.forEach(({ data }, i) => {
      expect(data).toEqual({ harbours: [expected[i % 3]] });
    });
  });

  it('takes rules that are added and removed by a new supergraph', async () => {
    const query = '{ harbours { name } }';
    expect((await ask(query)).errors).toEqual([]);
    const closed = federation.supergraphSdl.replace('harbours: [Harbour!]', 'harbours: [Harbour!] @authenticated');
    await federation.replaceSupergraph(closed);
    await until(async () => (await ask(query)).errors.length === 1);
    expect((await ask(query, PERSON)).errors).toEqual([]);
    await federation.replaceSupergraph(federation.supergraphSdl);
    await until(async () => (await ask(query)).errors.length === 0);
  });
});

describe('subscriptions', () => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(subgraphs, { env, args: ['--auth', 'on'] });
  });
  afterAll(() => federation.stop());
  const subscribe = (query: string, token?: string) => subscribeTo(federation.gateway.url, { query, token });

  it('are refused at once when the caller may not read the root field', async () => {
    expect(await subscribe('subscription { closed { name } }').end()).toMatchObject({ codes: ['UNAUTHORIZED'] });
    expect(federation.received.some(({ query }) => query.includes('closed'))).toBe(false);
    expect((await subscribe('subscription { closed { name } }', PERSON).wait(2)).length).toBe(2);
  });

  it('have null for denied fields in each event, which other callers of the same subscription get', async () => {
    const query = 'subscription { ticked { name depth berths } }';
    const anonymous = subscribe(query);
    const known = subscribe(query, PERSON);
    const depths = async (subscriber: ReturnType<typeof subscribe>) =>
      (await subscriber.wait(2)).map(({ data, errors }) => [(data?.['ticked'] as { depth: unknown }).depth, errors?.length ?? 0]);
    expect(await depths(anonymous)).toEqual([
      [null, 1],
      [null, 1],
    ]);
    expect(await depths(known)).toEqual([
      [12.5, 0],
      [12.5, 0],
    ]);
  });
});

describe('a gateway without a check of credentials', () => {
  it('denies protected fields to everybody: nobody is known', async () => {
    const federation = await startFederation(subgraphs);
    const { body } = await federation.ask('{ harbours { name depth } }', {}, { authorization: `Bearer ${PERSON}` });
    await federation.stop();
    expect(body.data).toEqual({ harbours: [{ name: 'Hamburg', depth: null }] });
  });
});

describe('a supergraph that cannot be enforced', () => {
  let sdl: string;
  beforeAll(async () => {
    sdl = await compose(subgraphs, {});
  });

  it.each([
    ['an unknown version of a feature', ['authenticated/v0.1', 'authenticated/v0.2'], 'v0.2'],
    ['scopes that are not lists of lists', ['[["orders:read"]]', '["orders:read"]'], '@requiresScopes on Yard.workers'],
    ['no alternative', ['[["orders:read"]]', '[]'], '@requiresScopes on Yard.workers'],
    ['an alternative without scopes', ['[["orders:read"]]', '[["orders:read"], []]'], 'at least one entry'],
    ['an empty scope', ['"orders:read"', '""'], 'at least one entry'],
    ['a directive where it is not allowed', ['rename(name: String!', 'rename(name: String! @authenticated'], '@authenticated where'],
    ['an unknown import', ['authenticated/v0.1", for: SECURITY', 'authenticated/v0.1", for: SECURITY, import: ["@other"]'], '@other'],
  ] as const)('is refused: %s', async (_, [found, replacement], reason) => {
    const changed = sdl.replace(found, replacement);
    expect(changed).not.toBe(sdl);
    const file = join(settings.home, 'changed.graphql');
    await writeFile(file, changed);
    const started = startGateway(['--supergraph', file, '--port', '0'], env);
    await expect(started).rejects.toThrow(reason);
  });
});

it('finds the directives under the names that a supergraph gives them', async () => {
  const patch = (sdl: string) =>
    sdl
      .replaceAll('@authenticated', '@known')
      .replace('authenticated/v0.1", for: SECURITY', 'authenticated/v0.1", for: SECURITY, import: [{name: "@authenticated", as: "@known"}]')
      .replaceAll('@requiresScopes', '@access__requiresScopes')
      .replaceAll('requiresScopes__Scope', 'access__Scope')
      .replace(
        'requiresScopes/v0.1", for: SECURITY',
        'requiresScopes/v0.1", for: SECURITY, as: "access", import: [{name: "@requiresScopes", as: "@access__requiresScopes"}]',
      );
  const federation = await startFederation(subgraphs, { env, args: ['--auth', 'on'], patch });
  const { body } = await federation.ask('{ harbours { depth keeper { name } } __schema { directives { name } } }');
  await federation.stop();
  expect(body.data?.['harbours']).toEqual([{ depth: null, keeper: null }]);
  expect(JSON.stringify(body.data?.['__schema'])).not.toMatch(/known|access/);
});
