/** Contracts in the registry: variants of an environment's graph by tags, made with each release (issue 17 point 4, ADR 45). */
import { UplinkSupergraphManager } from '@apollo/gateway';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { ORDERS, USERS, createChanges } from './contract-client.ts';

const QUIET_LOGGER = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

let registry: TestRegistry;
let changes: ReturnType<typeof createChanges>;
beforeAll(async () => {
  registry = await startRegistry();
  changes = createChanges(registry);
});
afterAll(() => registry.stop());

/** Returns an environment with both subgraphs. */
async function prepare(): Promise<string> {
  const environment = newEnvironment();
  await publish(registry, environment, { users: USERS, orders: ORDERS });
  return environment;
}
const fieldsOf = (apiSdl: string | undefined, type: string) => {
  const found = apiSdl === undefined ? undefined : buildSchema(apiSdl).getType(type);
  return found && 'getFields' in found ? Object.keys(found.getFields()) : undefined;
};

describe('createContract', () => {
  it('releases the contract with its own public schema, and leaves the launch and the whole graph as they are', async () => {
    const environment = await prepare();
    const before = await changes.read(environment);
    const { contract, release, problems } = await changes.create({ environment, name: 'partner', include: ['partner'] });
    expect({ release, problems }).toEqual({ release: { number: 2 }, problems: [] });
    expect(contract).toMatchObject({ name: 'partner', version: 1, include: ['partner'], exclude: [], removeUnreachableTypes: true });
    expect(fieldsOf(contract?.apiSdl, 'User')?.toSorted()).toEqual(['name', 'orders']);
    expect(await changes.read(environment)).toMatchObject({ number: 2, action: 'CONTRACT', launch: before?.launch, contracts: [contract] });
    const whole = await registry.graphql<{ environment: { release: { launch: { apiSdl: string } } } }>(
      'query ($name: String!) { environment(name: $name) { release { launch { apiSdl } } } }',
      { name: environment },
    );
    expect(fieldsOf(whole.data?.environment.release.launch.apiSdl, 'User')).toContain('note');
  });

  it('writes nothing and returns why when the graph has no valid variant with these tags', async () => {
    const environment = await prepare();
    const refused = await changes.create({ environment, name: 'none', include: ['nobody-has-it'] });
    expect(refused).toMatchObject({ contract: null, release: null, problems: [{ code: 'ONLY_INACCESSIBLE_CHILDREN' }] });
    expect(refused.problems[0]?.message).toContain('The contract `none` cannot be made: ');
    expect(await changes.read(environment)).toMatchObject({ number: 1, contracts: [] });
  });

  it('is refused without the scope CONTRACT, for a name that is taken, for tags that contradict, and for an unknown environment', async () => {
    const environment = await prepare();
    const input = { environment, name: 'public', include: ['public'] };
    const publisher = await changes.createToken({ name: 'publisher', scopes: ['PUBLISH', 'RELEASE'] });
    await expect(changes.create(input, publisher)).rejects.toThrow('FORBIDDEN The token needs the scope CONTRACT');
    const elsewhere = await changes.createToken({ name: 'elsewhere', scopes: ['CONTRACT'], environments: ['other'] });
    await expect(changes.create(input, elsewhere)).rejects.toThrow('FORBIDDEN');
    await expect(changes.create({ ...input, exclude: ['public'] })).rejects.toThrow('VALIDATION_ERROR');
    await expect(changes.create({ ...input, include: ['a b'] })).rejects.toThrow('VALIDATION_ERROR');
    await expect(changes.create({ ...input, name: 'Public_' })).rejects.toThrow('VALIDATION_ERROR');
    await expect(changes.create({ ...input, environment: newEnvironment() })).rejects.toThrow('NOT_FOUND');
    const own = await changes.createToken({ name: 'contracts', scopes: ['CONTRACT'], environments: [environment] });
    expect(await changes.create(input, own)).toMatchObject({ release: { number: 2 } });
    await expect(changes.create(input)).rejects.toThrow('CONFLICT');
    expect(await changes.read(environment)).toMatchObject({ number: 2 });
  });
});

describe('updateContract and deleteContract', () => {
  it('make new versions, each with a release of its own; nothing changes for the same tags', async () => {
    const environment = await prepare();
    await expect(changes.update({ environment, name: 'public' })).rejects.toThrow('NOT_FOUND');
    await changes.create({ environment, name: 'public', include: ['public'] });
    expect(await changes.update({ environment, name: 'public', include: ['public', 'public'] })).toMatchObject({ isUnchanged: true });
    const changed = await changes.update({ environment, name: 'public', exclude: ['internal'], removeUnreachableTypes: false });
    expect(changed).toMatchObject({ contract: { version: 2, include: [], exclude: ['internal'], removeUnreachableTypes: false } });
    expect(fieldsOf(changed.contract?.apiSdl, 'Order')).toEqual(['total']);
    expect(await changes.remove({ environment, name: 'public' })).toMatchObject({ number: 4, action: 'CONTRACT', contracts: [] });
    await expect(changes.remove({ environment, name: 'public' })).rejects.toThrow('NOT_FOUND');
    // A contract that is created again counts on.
    expect(await changes.create({ environment, name: 'public', include: ['public'] })).toMatchObject({ contract: { version: 4 } });
  });
});

describe('publishSubgraphs with contracts', () => {
  it('makes each contract of what is published', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'partner', include: ['partner'] });
    await changes.create({ environment, name: 'public', include: ['public'] });
    const tagged = ORDERS.replace('orders: [Order] @tag(name: "partner")', 'orders: [Order] @tag(name: "partner") @tag(name: "public")');
    const added = tagged.replace('total: Int', 'total: Int @tag(name: "public") added: Int');
    await publish(registry, environment, { orders: added });
    const release = await changes.read(environment);
    expect(release).toMatchObject({ number: 4, action: 'PUBLISH' });
    expect(release?.contracts.map(({ name, apiSdl }) => [name, fieldsOf(apiSdl, 'Order')])).toEqual([
      ['partner', ['total', 'added', 'cost']],
      ['public', ['total']],
    ]);
  });

  it('is refused with the reason when a contract cannot be made any more, and releases nothing', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'customer', exclude: ['internal'] });
    // The type is left out, and a field that returns it is not.
    const broken = ORDERS.replace('type Order @tag(name: "partner")', 'type Order @tag(name: "internal")');
    const result = await publish(registry, environment, { orders: broken });
    expect(result).toMatchObject({ release: null, problems: [{ code: 'REFERENCED_INACCESSIBLE' }] });
    expect(result.problems[0]?.message).toMatch(/The contract `customer` cannot be made: .*User\.orders/);
    expect(await changes.read(environment)).toMatchObject({ number: 2 });
    // Without the contract it composes.
    await changes.remove({ environment, name: 'customer' });
    expect(await publish(registry, environment, { orders: broken })).toMatchObject({ release: { number: 4 } });
  });
});

describe('checkSubgraphs with contracts', () => {
  const CHECK = `mutation ($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) { id verdict problems { code } changes { kind level }
    contracts { name problems { code } changes { kind level coordinate isApproved } } } }`;
  interface Check {
    readonly id: string;
    readonly verdict: string;
    readonly changes: readonly object[];
    readonly contracts: readonly { readonly name: string; readonly problems: readonly object[]; readonly changes: readonly object[] }[];
  }
  const check = async (environment: string, orders: string) => {
    const input = { environment, subgraphs: [{ name: 'orders', sdl: orders }] };
    const { data } = await registry.graphql<{ checkSubgraphs: Check }>(CHECK, { input });
    return data?.checkSubgraphs;
  };
  const UNTAGGED = ORDERS.replace('orders: [Order] @tag(name: "partner")', 'orders: [Order]');

  it('reports what changes for the clients of each contract, and fails when that is breaking', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'partner', include: ['partner'] });
    await changes.create({ environment, name: 'public', include: ['public'] });
    const found = await check(environment, UNTAGGED);
    expect(found).toMatchObject({ verdict: 'FAILED', changes: [] });
    expect(found?.contracts).toMatchObject([
      { name: 'partner', changes: [{ kind: 'FIELD_REMOVED', level: 'BREAKING', coordinate: 'User.orders', isApproved: false }] },
      { name: 'public', changes: [] },
    ]);
  });

  it('passes once the changes of the contract are approved', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'partner', include: ['partner'] });
    const found = await check(environment, UNTAGGED);
    const approve = 'mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict } }';
    const approved = await registry.graphql(approve, { input: { id: found?.id, approver: 'Ada', reason: 'The partner left' } });
    expect(approved.data).toEqual({ approveCheck: { verdict: 'APPROVED' } });
    expect(await check(environment, UNTAGGED)).toMatchObject({ verdict: 'PASSED', contracts: [{ changes: [{ isApproved: true }] }] });
  });

  it('fails without a way to approve when a contract cannot be made', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'customer', exclude: ['internal'] });
    const found = await check(environment, ORDERS.replace('type Order @tag(name: "partner")', 'type Order @tag(name: "internal")'));
    expect(found).toMatchObject({ verdict: 'FAILED', contracts: [{ name: 'customer', problems: [{ code: 'REFERENCED_INACCESSIBLE' }] }] });
    const approve = 'mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict } }';
    const { errors } = await registry.graphql(approve, { input: { id: found?.id, approver: 'Ada', reason: 'no' } });
    expect(errors[0]?.extensions.code).toBe('BUSINESS_RULE_VIOLATION');
  });
});

describe('rollback and promote with contracts', () => {
  it('serve the other launch by the current tags: a rollback does not bring tags back', async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'partner', include: ['partner'] });
    await publish(registry, environment, { orders: ORDERS.replace('total: Int', 'total: Int added: Int') });
    await changes.update({ environment, name: 'partner', include: ['partner'], exclude: ['internal'] });
    const rolled = await changes.rollback({ environment });
    expect(rolled).toMatchObject({ action: 'ROLLBACK', contracts: [{ name: 'partner', version: 2 }] });
    expect(fieldsOf(rolled.contracts[0]?.apiSdl, 'Order')).toEqual(['total']);
  });

  it('are refused, with the reason, for a launch that a contract cannot be made of', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS.replaceAll('@tag(name: "public")', '') });
    await publish(registry, environment, { users: USERS });
    await changes.create({ environment, name: 'public', include: ['public'] });
    await expect(changes.rollback({ environment })).rejects.toThrow(/BUSINESS_RULE_VIOLATION The contract `public` cannot be made/);
    await changes.remove({ environment, name: 'public' });
    expect(await changes.rollback({ environment })).toMatchObject({ action: 'ROLLBACK' });
  });
});

describe('other gateways', () => {
  const readHive = (environment: string, contract: string, headers: Record<string, string>) =>
    fetch(`${registry.url}/artifacts/v1/${environment}/contracts/${contract}/supergraph`, { headers });

  it("read a contract at the path of Hive's CDN, with an ETag that changes with the contract", async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'public', include: ['public'] });
    const key = { 'x-hive-cdn-key': registry.token };
    const response = await readHive(environment, 'public', key);
    expect(response.status).toBe(200);
    expect(await response.text()).toMatch(/orders: \[Order\] @join__field.*@inaccessible/);
    const condition = { ...key, 'if-none-match': response.headers.get('etag') ?? '' };
    expect((await readHive(environment, 'public', condition)).status).toBe(304);
    await changes.update({ environment, name: 'public', include: ['public', 'partner'] });
    expect((await readHive(environment, 'public', condition)).status).toBe(200);
    expect((await readHive(environment, 'unknown', key)).status).toBe(404);
    expect((await readHive(environment, 'public', {})).status).toBe(400);
  });

  it("read a contract as a variant of Apollo Uplink, with Apollo's own client", async () => {
    const environment = await prepare();
    await changes.create({ environment, name: 'public', include: ['public'] });
    const start = async (graphRef: string) => {
      const manager = new UplinkSupergraphManager({
        ...{ apiKey: registry.token, graphRef, uplinkEndpoints: [`${registry.url}/uplink`], logger: QUIET_LOGGER },
        ...{ initialMaxRetries: 0, maxRetries: 0, shouldRunSubgraphHealthcheck: false },
      });
      const { supergraphSdl, cleanup } = await manager.initialize({
        update: () => undefined,
        healthCheck: () => Promise.resolve(),
        getDataSource: () => ({ process: () => Promise.reject(new Error()) }),
      });
      await cleanup();
      return supergraphSdl;
    };
    expect(await start(`trestle@${environment}_public`)).toMatch(/orders: \[Order\] @join__field.*@inaccessible/);
    await expect(start(`trestle@${environment}_unknown`)).rejects.toThrow();
  });
});
