/** The registry's API: publishing, releases and tokens (ADR 40). One process and one database for all. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { LINK, ORDERS, type TestRegistry, USERS, newEnvironment, publish, startRegistry } from './registry-client.ts';

let registry: TestRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const first = <T>(errors: readonly T[]) => errors[0];

describe('publishSubgraphs', () => {
  it('releases several subgraphs at once, and returns the current release when nothing changes', async () => {
    const environment = newEnvironment();
    const published = await publish(registry, environment, { users: USERS, orders: ORDERS });
    expect(published).toMatchObject({ release: { number: 1 }, isUnchanged: false, problems: [] });
    const again = await publish(registry, environment, { orders: ORDERS });
    expect(again).toEqual({ ...published, isUnchanged: true });
    const { data } = await registry.graphql<{ environment: { subgraphs: object[]; release: { launch: object } } }>(
      `query ($name: String!) { environment(name: $name) {
         subgraphs { name sdl } release { action actor launch { composer supergraphSdl apiSdl } } } }`,
      { name: environment },
    );
    expect(data?.environment.subgraphs).toEqual([
      { name: 'orders', sdl: ORDERS },
      { name: 'users', sdl: USERS },
    ]);
    expect(data?.environment.release).toMatchObject({
      action: 'PUBLISH',
      actor: expect.stringMatching(/^test \(tok_/),
      launch: { composer: '@apollo/composition@2.14.4', supergraphSdl: expect.stringContaining('join__Graph') },
    });
  });

  it('writes nothing when one of several subgraphs does not compose, and names subgraph and line', async () => {
    const environment = newEnvironment();
    const broken = `${LINK}\ntype Query { b: Thing }\ntype Thing @key(fields: "nope") {\n  id: ID!\n}`;
    const { release, problems } = await publish(registry, environment, { users: USERS, broken });
    expect(release).toBeNull();
    expect(problems[0]).toMatchObject({ code: 'KEY_INVALID_FIELDS', places: expect.arrayContaining([{ subgraph: 'broken', line: 3 }]) });
    const { data } = await registry.graphql(`query ($name: String!) { environment(name: $name) { name } }`, { name: environment });
    expect(data).toEqual({ environment: null });
  });

  it('lets one of two conflicting publishes win, and the other gets the reason', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { base: `${LINK}\ntype Query { base: Int }` });
    const thing = (type: string) => `${LINK}\ntype Query { ${type}s: Thing }\ntype Thing @shareable { size: ${type} }`;
    const results = await Promise.all([
      publish(registry, environment, { one: thing('Int') }),
      publish(registry, environment, { two: thing('String') }),
    ]);
    const [won, lost] = results.toSorted((a, b) => a.problems.length - b.problems.length);
    expect(won).toMatchObject({ release: { number: 2 }, problems: [] });
    expect(lost).toMatchObject({ release: null, problems: [{ code: 'FIELD_TYPE_MISMATCH' }] });
  });

  it('refuses a publish for another release than the current one, and invalid input, with a coded error', async () => {
    const environment = newEnvironment();
    const mutation = `mutation ($input: PublishSubgraphsInput!) { publishSubgraphs(input: $input) { isUnchanged } }`;
    const send = async (input: object) =>
      first((await registry.graphql(mutation, { input: { environment, ...input } })).errors)?.extensions;
    const subgraph = { name: 'users', url: 'http://localhost/users', sdl: USERS };
    expect(await send({ subgraphs: [subgraph], expectedRelease: 7 })).toMatchObject({ code: 'CONFLICT' });
    expect(await send({ subgraphs: [{ ...subgraph, name: '../x', url: 'file:///etc/passwd' }] })).toMatchObject({
      code: 'VALIDATION_ERROR',
      details: [{ field: 'subgraphs.0.name' }, { field: 'subgraphs.0.url' }],
    });
    expect(await send({ subgraphs: [subgraph, subgraph] })).toMatchObject({ code: 'VALIDATION_ERROR' });
    expect(await send({ subgraphs: [{ ...subgraph, url: null }] })).toMatchObject({ code: 'VALIDATION_ERROR' });
  });
});

describe('rollback, promote and deleteSubgraphs', () => {
  it('serve the same launch in another environment, and earlier launches again', async () => {
    const [staging, prod] = [newEnvironment(), newEnvironment()];
    const one = await publish(registry, staging, { users: USERS });
    const two = await publish(registry, staging, { orders: ORDERS });
    const promote = `mutation ($input: PromoteInput!) { promote(input: $input) { number promotedFrom launch { id } } }`;
    const promoted = await registry.graphql(promote, { input: { from: staging, to: prod } });
    expect(promoted.data).toEqual({ promote: { number: 1, promotedFrom: staging, launch: two.release?.launch } });
    const elsewhere = await publish(registry, newEnvironment(), { orders: ORDERS, users: USERS });
    expect(elsewhere.release?.launch).toEqual(two.release?.launch);

    const rollback = `mutation ($input: RollbackInput!) { rollback(input: $input) { number action launch { id } } }`;
    const back = await registry.graphql(rollback, { input: { environment: staging } });
    expect(back.data).toEqual({ rollback: { number: 3, action: 'ROLLBACK', launch: one.release?.launch } });
    expect(first((await registry.graphql(rollback, { input: { environment: staging, to: 1 } })).errors)?.extensions.code).toBe('CONFLICT');

    const remove = `mutation ($input: DeleteSubgraphsInput!) { deleteSubgraphs(input: $input) { release { number launch { subgraphs { name } } } } }`;
    const deleted = await registry.graphql(remove, { input: { environment: prod, subgraphs: ['orders'] } });
    expect(deleted.data).toEqual({ deleteSubgraphs: { release: { number: 2, launch: { subgraphs: [{ name: 'users' }] } } } });
    const last = await registry.graphql(remove, { input: { environment: prod, subgraphs: ['users'] } });
    expect(first(last.errors)?.extensions.code).toBe('VALIDATION_ERROR');
  });
});

describe('tokens', () => {
  it('allow what their scopes and limits say, and nothing after they are revoked', async () => {
    const [mine, other] = [newEnvironment(), newEnvironment()];
    await publish(registry, other, { users: USERS });
    const { data } = await registry.graphql<{ createToken: { secret: string; token: { id: string } } }>(
      `mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }`,
      { input: { name: 'ci', scopes: ['PUBLISH'], subgraphs: ['users'], environments: [mine] } },
    );
    const { secret, token } = data?.createToken ?? { secret: '', token: { id: '' } };
    const limited = { graphql: <D>(query: string, variables?: object) => registry.graphql<D>(query, variables, secret) };
    expect(await publish(limited, mine, { users: USERS })).toMatchObject({ release: { number: 1 } });
    await expect(publish(limited, mine, { orders: ORDERS })).rejects.toThrow('not valid for the subgraph `orders`');
    await expect(publish(limited, other, { users: USERS })).rejects.toThrow(`not valid for the environment \`${other}\``);
    const rollback = await limited.graphql(`mutation { rollback(input: { environment: "${mine}" }) { number } }`);
    expect(first(rollback.errors)?.extensions.code).toBe('FORBIDDEN');
    expect((await limited.graphql<{ environments: object[] }>('{ environments { name } }')).data).toEqual({
      environments: [{ name: mine }],
    });
    const wider = `mutation { createToken(input: { name: "x", scopes: [ADMIN] }) { secret } }`;
    expect(first((await limited.graphql(wider)).errors)?.extensions.code).toBe('FORBIDDEN');

    await registry.graphql('mutation ($id: ID!) { revokeToken(id: $id) { revokedAt } }', { id: token.id });
    expect(first((await limited.graphql('{ environments { name } }')).errors)?.extensions.code).toBe('UNAUTHORIZED');
    expect(first((await registry.graphql('{ environments { name } }', {}, 'trestle_reg_x')).errors)?.extensions.code).toBe('UNAUTHORIZED');
  });

  it('are not created with limits that no subgraph or environment can meet', async () => {
    const create = (limits: object) =>
      registry.graphql('mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret } }', {
        input: { name: 'ci', scopes: ['PUBLISH'], ...limits },
      });
    for (const [limits, field] of [
      [{ environments: ['prod', 'Prod'] }, 'environments.1'],
      [{ subgraphs: ['all users'] }, 'subgraphs.0'],
    ] as const) {
      const { extensions } = first((await create(limits)).errors) ?? {};
      expect(extensions).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] });
    }
  });

  it('of administrators that are limited list and revoke those within their limits, and no others', async () => {
    const [mine, other] = [newEnvironment(), newEnvironment()];
    const create = async (limits: object, secret?: string) => {
      const { data } = await registry.graphql<{ createToken: { secret: string; token: { id: string } } }>(
        `mutation ($input: CreateTokenInput!) { createToken(input: $input) { secret token { id } } }`,
        { input: { name: 'limited', scopes: ['READ', 'ADMIN'], ...limits } },
        secret,
      );
      return { secret: data?.createToken.secret ?? '', id: data?.createToken.token.id ?? '' };
    };
    const list = async (secret?: string) => {
      const { data } = await registry.graphql<{ tokens: { id: string }[] }>('{ tokens { id } }', {}, secret);
      return data?.tokens.map(({ id }) => id);
    };
    const revoke = async (id: string, secret: string) => {
      const { errors } = await registry.graphql('mutation ($id: ID!) { revokeToken(id: $id) { revokedAt } }', { id }, secret);
      return first(errors)?.extensions.code;
    };
    const admin = await create({ environments: [mine] });
    const narrow = await create({ environments: [mine], subgraphs: ['users'] }, admin.secret);
    const others = [await create({}), await create({ environments: [mine, other] }), await create({ subgraphs: ['users'] })];
    expect(await list(admin.secret)).toEqual([narrow.id, admin.id]);
    expect(await list(narrow.secret)).toEqual([narrow.id]);
    expect(await list()).toEqual(expect.arrayContaining([admin, narrow, ...others].map(({ id }) => id)));
    for (const { id, secret } of others) {
      expect(await revoke(id, admin.secret)).toBe('NOT_FOUND');
      expect(await list(secret)).toContain(id);
    }
    expect(await revoke(admin.id, narrow.secret)).toBe('NOT_FOUND');
    expect(await revoke(narrow.id, admin.secret)).toBeUndefined();
    expect(await list(narrow.secret)).toBeUndefined();
  });
});
