/** Checks of proposed changes, and the operations that clients have registered (ADR 42). */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ORDERS, type TestRegistry, USERS, newEnvironment, publish, startRegistry } from './registry-client.ts';

let registry: TestRegistry;
beforeAll(async () => {
  registry = await startRegistry();
});
afterAll(() => registry.stop());

const first = <T>(errors: readonly T[]) => errors[0];
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe('checkSubgraphs', () => {
  interface Checked {
    id: string;
    verdict: string;
    launchId: string | null;
    lint: object[];
    disagreements: string[];
    changes: { level: string; kind: string; coordinate: string; isApproved: boolean }[];
    unlistedCount: number;
    brokenOperations: object[];
    problems: object[];
  }
  const check = async (environment: string, users: string): Promise<Checked> => {
    const { data } = await registry.graphql<{ checkSubgraphs: Checked }>(
      `mutation ($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) {
         id verdict launchId lint { code places { subgraph line } } disagreements changes { level kind coordinate isApproved } unlistedCount brokenOperations { name client messages } problems { code } } }`,
      { input: { environment, subgraphs: [{ name: 'users', sdl: users }] } },
    );
    if (!data) throw new Error('The check was refused');
    return data.checkSubgraphs;
  };
  const approve = (id: string) =>
    registry.graphql('mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict approval { approver reason } } }', {
      input: { id, approver: 'Ada', reason: 'Nobody reads it' },
    });
  const push = (input: object) =>
    registry.graphql(
      'mutation ($input: PushOperationsInput!) { pushOperations(input: $input) { added unchanged invalid { name client messages } } }',
      { input },
    );

  const remove = async (input: object) => {
    const mutation = 'mutation ($input: RemoveOperationsInput!) { removeOperations(input: $input) { removed unknown } }';
    const { data, errors } = await registry.graphql<{ removeOperations: object }>(mutation, { input });
    return data?.removeOperations ?? errors;
  };

  it('fails for a breaking change and a broken operation, and passes once both are approved and removed', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS });
    const without = USERS.replace('  age: Int\n', '');
    const failed = await check(environment, without);
    expect(failed).toMatchObject({
      verdict: 'FAILED',
      disagreements: [],
      lint: expect.arrayContaining([{ code: 'require-description', places: [{ subgraph: 'users', line: 3 }] }]),
      changes: [{ level: 'BREAKING', kind: 'FIELD_REMOVED', coordinate: 'User.age', isApproved: false }],
    });
    const approved = await approve(failed.id);
    expect(approved.data).toEqual({ approveCheck: { verdict: 'APPROVED', approval: { approver: 'Ada', reason: 'Nobody reads it' } } });
    expect(first((await approve(failed.id)).errors)?.extensions.code).toBe('CONFLICT');
    expect(await check(environment, without)).toMatchObject({ verdict: 'PASSED', changes: [{ isApproved: true }] });

    const operations = { environment, client: 'web', documents: ['query Ages { user { age } }'] };
    expect((await push(operations)).data).toEqual({ pushOperations: { added: 1, unchanged: 0, invalid: [] } });
    expect((await push(operations)).data).toEqual({ pushOperations: { added: 0, unchanged: 1, invalid: [] } });
    expect(await check(environment, without)).toMatchObject({
      verdict: 'FAILED',
      brokenOperations: [{ name: 'Ages', client: 'web', messages: [expect.stringContaining('"age"')] }],
    });
    expect(await remove({ environment, client: 'web', hashes: [hashOf('query Ages { user { age } }')] })).toMatchObject({ removed: 1 });
    expect(await check(environment, without)).toMatchObject({ verdict: 'PASSED', brokenOperations: [] });
    const added = await check(environment, USERS.replace('age: Int', 'age: Int\n  mood: String'));
    expect(added).toMatchObject({ verdict: 'PASSED', changes: [{ level: 'SAFE', kind: 'FIELD_ADDED' }] });
    expect(await check(environment, 'type Query {')).toMatchObject({
      verdict: 'FAILED',
      launchId: null,
      problems: [{ code: 'GRAPHQL_PARSE_FAILED' }],
    });
  });

  it('removes the operations of one client in one environment, and names those that it had not registered', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS });
    const text = 'query Ages { user { age } }';
    for (const client of ['web', 'app']) await push({ environment, client, documents: [text] });
    const [known, unknown] = [hashOf(text), hashOf('query Other { user { age } }')];
    expect(await remove({ environment, client: 'web', hashes: [known, unknown, known] })).toEqual({ removed: 1, unknown: [unknown] });
    expect(await remove({ environment, client: 'web', hashes: [known] })).toEqual({ removed: 0, unknown: [known] });
    expect(await check(environment, USERS.replace('  age: Int\n', ''))).toMatchObject({ brokenOperations: [{ client: 'app' }] });
    for (const hashes of [[], Array.from({ length: 1001 }, () => known), [known.toUpperCase()]])
      expect(await remove({ environment, client: 'web', hashes })).toMatchObject([{ extensions: { code: 'VALIDATION_ERROR' } }]);
  });

  it('lists a field that fewer callers may read as a dangerous change', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS });
    const link = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@authenticated"])';
    const restricted = `${link}\n${USERS.replace(/extend schema[^\n]*\n/, '').replace('age: Int', 'age: Int @authenticated')}`;
    expect(await check(environment, restricted)).toMatchObject({
      verdict: 'PASSED',
      changes: [{ level: 'DANGEROUS', kind: 'ACCESS_RESTRICTED', coordinate: 'User.age' }],
    });
  });

  it('passes an unchanged schema when a registered operation is invalid already', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS });
    const pushed = await push({ environment, client: 'web', documents: ['query Ages { user { age } }', 'query Typo { nothing }'] });
    const invalid = [{ name: 'Typo', client: 'web', messages: ['Cannot query field "nothing" on type "Query".'] }];
    expect(pushed.data).toEqual({ pushOperations: { added: 2, unchanged: 0, invalid } });
    expect(await check(environment, USERS)).toMatchObject({ verdict: 'PASSED', brokenOperations: [] });
    const without = USERS.replace('  age: Int\n', '');
    expect(await check(environment, without)).toMatchObject({ verdict: 'FAILED', brokenOperations: [{ name: 'Ages' }] });
    await publish(registry, environment, { users: without });
    expect(await check(environment, without)).toMatchObject({ verdict: 'PASSED', brokenOperations: [] });
    // What becomes valid again can be broken again.
    await publish(registry, environment, { users: USERS });
    expect(await check(environment, without)).toMatchObject({ verdict: 'FAILED', brokenOperations: [{ name: 'Ages' }] });
  });

  it('lets a publish pass that came later', async () => {
    const environment = newEnvironment();
    const types = Array.from({ length: 600 }, (_, at) => `type T${String(at)} @key(fields: "id") { id: ID! name: String }`).join('\n');
    await publish(registry, environment, { users: USERS });
    let done = 0;
    const checks = Array.from({ length: 4 }, () => check(environment, `${USERS}\n${types}`).finally(() => (done += 1)));
    // By now the others wait for their turn.
    await Promise.race(checks);
    expect(await publish(registry, environment, { orders: ORDERS })).toMatchObject({ release: { number: 2 } });
    expect(done).toBeLessThan(checks.length);
    await Promise.all(checks);
  });

  it('fails for more breaking changes than it lists, until all of them are approved', async () => {
    const environment = newEnvironment();
    const fields = Array.from({ length: 1500 }, (_, at) => `  f${String(at)}: Int`);
    const withFields = (all: readonly string[]) => USERS.replace('  age: Int', ['  age: Int', ...all].join('\n'));
    await publish(registry, environment, { users: withFields(fields) });
    const failed = await check(environment, USERS);
    expect(failed).toMatchObject({ verdict: 'FAILED', unlistedCount: 500 });
    expect(failed.changes).toHaveLength(1000);
    expect((await approve(failed.id)).data).toMatchObject({ approveCheck: { verdict: 'APPROVED' } });
    expect(await check(environment, USERS)).toMatchObject({ verdict: 'PASSED', unlistedCount: 0 });
    // The field that was not approved is behind all others by its name.
    await publish(registry, environment, { users: withFields([...fields, '  zed: Int']) });
    expect(await check(environment, USERS)).toMatchObject({ verdict: 'FAILED', unlistedCount: 1 });
  });
});
