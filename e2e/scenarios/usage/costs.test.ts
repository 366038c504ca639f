/** What checks say of the costs of operations: those that clients send, and those that they have registered (docs/registry.md). */
import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { ROOT } from '../../stack/processes/process.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { createToken } from './usage-client.ts';

const SDL = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@listSize"])
type Query { users(first: Int): [User] name: String }
type User { id: ID friends: [User] }`;
/** Says how long a list is that was taken for 10. */
const sized = (size: number) => SDL.replace('friends: [User]', `friends: [User] @listSize(assumedSize: ${String(size)})`);

let registry: TestRegistry;
let environment: string;
beforeAll(async () => {
  registry = await startRegistry({ REGISTRY_CHECK_MAX_COST: '5000' });
});
afterAll(() => registry.stop());
beforeEach(async () => {
  environment = newEnvironment();
  await publish(registry, environment, { users: SDL });
  await push(['query Registered { users(first: 3) { friends { id } } }']);
  await report({ 'query Recorded{users(first:0){friends{id}}}': 3, 'query Name{name}': 1 });
});

function push(documents: readonly string[]) {
  const mutation = 'mutation ($input: PushOperationsInput!) { pushOperations(input: $input) { added } }';
  return registry.graphql(mutation, { input: { environment, client: 'web', documents } });
}

/** Reports as a gateway how often operations were sent; their texts are normalised. */
async function report(counts: Readonly<Record<string, number>>): Promise<void> {
  const operations = Object.keys(counts).map((text) => {
    return { hash: createHash('sha256').update(text).digest('hex'), name: /query (\w+)/u.exec(text)?.[1], text, uses: [] };
  });
  const rows = Object.values(counts).map((count, operation) => {
    return { operation, client: 0, count, errors: 0, durations: [0, count, ...new Array<number>(16).fill(0)] };
  });
  const minute = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString();
  const body = { id: randomUUID(), minute, operations, clients: [{ name: 'web', version: '1' }], rows };
  const token = await createToken(registry, ['REPORT']);
  expect((await request(`${registry.url}/usage/${environment}`, { method: 'POST', body, token })).status).toBe(200);
}

interface Checked {
  readonly id: string;
  readonly verdict: string;
  readonly costs: object | null;
}
const check = async (sdl: string, policy?: object): Promise<Checked> => {
  const mutation = `mutation ($input: CheckSubgraphsInput!) { checkSubgraphs(input: $input) { id verdict costs { maxCost compared grownCount
    overLimitCount operations { name before after requests percent isOverLimit isApproved } } } }`;
  const input = { environment, subgraphs: [{ name: 'users', url: 'http://localhost/graphql', sdl }], policy };
  const { data, errors } = await registry.graphql<{ checkSubgraphs: Checked }>(mutation, { input });
  if (!data) throw new Error(errors.map(({ message }) => message).join('; '));
  return data.checkSubgraphs;
};
const approve = (id: string) =>
  registry.graphql('mutation ($input: ApproveCheckInput!) { approveCheck(input: $input) { verdict } }', {
    input: { id, approver: 'Ada', reason: 'rare' },
  });
const RECORDED = { name: 'Recorded', before: 10 * (1 + 10), requests: 3, percent: 75 };
const REGISTERED = { name: 'Registered', before: 3 * (1 + 10), requests: null, percent: null };

describe('checkSubgraphs', () => {
  it('lists the operations that would cost more, with their cost now and then', async () => {
    const passes = { isOverLimit: false, isApproved: false };
    expect(await check(sized(1000), { maxCost: 0 })).toMatchObject({
      verdict: 'PASSED',
      costs: {
        ...{ maxCost: null, compared: 3, grownCount: 2, overLimitCount: 0 },
        operations: [
          { ...RECORDED, after: 10 * (1 + 1000), ...passes },
          { ...REGISTERED, after: 3 * (1 + 1000), ...passes },
        ],
      },
    });
    expect(await check(sized(5))).toMatchObject({
      verdict: 'PASSED',
      costs: { maxCost: 5000, compared: 3, grownCount: 0, operations: [] },
    });
    environment = newEnvironment();
    expect(await check(SDL)).toMatchObject({ verdict: 'PASSED', costs: null });
  });

  it('estimates with the assumed size of lists of the gateway', async () => {
    expect(await check(sized(1000), { maxCost: 0, assumedListSize: 20 })).toMatchObject({
      costs: {
        operations: [
          { name: 'Recorded', before: 20 * (1 + 20), after: 20 * (1 + 1000) },
          { name: 'Registered', before: 3 * (1 + 20) },
        ],
      },
    });
    expect(await check(sized(1000), { maxCost: 0, assumedListSize: 1000 })).toMatchObject({ costs: { grownCount: 0 } });
  });

  it('fails for one that would exceed the limit, until this cost is approved', async () => {
    const failed = await check(sized(1000));
    expect(failed).toMatchObject({
      verdict: 'FAILED',
      costs: {
        maxCost: 5000,
        overLimitCount: 1,
        operations: [
          { ...RECORDED, isOverLimit: true },
          { ...REGISTERED, isOverLimit: false },
        ],
      },
    });
    expect(await check(sized(1000), { maxCost: 10_010 })).toMatchObject({ verdict: 'PASSED', costs: { overLimitCount: 0 } });
    expect(await check(sized(1000), { maxCost: 3002 })).toMatchObject({ verdict: 'FAILED', costs: { overLimitCount: 2 } });
    const { data } = await approve(failed.id);
    expect(data).toEqual({ approveCheck: { verdict: 'APPROVED' } });
    expect(await check(sized(1000))).toMatchObject({
      verdict: 'PASSED',
      costs: { overLimitCount: 0, operations: [{ isApproved: true }, {}] },
    });
    expect(await check(sized(1001))).toMatchObject({
      verdict: 'FAILED',
      costs: { overLimitCount: 1, operations: [{ isApproved: false }, {}] },
    });
  });

  it('fails for the operations beyond the 1,000 that one approval accepts, until they are approved too', async () => {
    const names = Array.from({ length: 1003 }, (_, at) => `Many${String(at)}`);
    for (let at = 0; at < names.length; at += 100)
      await push(names.slice(at, at + 100).map((name) => `query ${name} { users(first: 6) { friends { id } } }`));
    for (const overLimitCount of [1000, 4]) {
      const failed = await check(sized(1000));
      expect(failed).toMatchObject({ verdict: 'FAILED', costs: { overLimitCount } });
      await approve(failed.id);
    }
    expect(await check(sized(1000))).toMatchObject({ verdict: 'PASSED', costs: { overLimitCount: 0 } });
  });

  it('does not fail for one that exceeds the limit already', async () => {
    await publish(registry, environment, { users: sized(1000) });
    expect(await check(sized(2000))).toMatchObject({
      verdict: 'FAILED',
      costs: {
        overLimitCount: 1,
        operations: [
          { name: 'Registered', isOverLimit: true },
          { name: 'Recorded', isOverLimit: false },
        ],
      },
    });
  });
});

describe('trestle subgraph check', () => {
  const run = async (sdl: string, options: string) => {
    const file = join(registry.home, 'users.graphql');
    await writeFile(file, sdl);
    const env = {
      ...{ PATH: process.env['PATH'], REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token },
      REGISTRY_ENVIRONMENT: environment,
    };
    const args = [join(ROOT, 'packages/cli/bin/trestle.mjs'), 'subgraph', 'check', `users=${file}`, ...options.split(' ').filter(Boolean)];
    return new Promise<{ code: unknown; stdout: string }>((resolve) => {
      execFile(process.execPath, args, { env }, (error, stdout) => {
        resolve({ code: error?.code ?? 0, stdout });
      });
    });
  };

  it('prints what operations would cost, and fails above --max-cost', async () => {
    const passed = await run(sized(1000), '--max-cost 0');
    expect(passed.code).toBe(0);
    expect(passed.stdout).toContain('cost COST_GROWN Recorded costs 10010 instead of 110 (3 requests, 75 %)\n');
    expect(passed.stdout).toContain('cost COST_GROWN Registered costs 3003 instead of 33\n');
    const failed = await run(sized(1000), '--max-cost 4000');
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain(
      'cost COST_ABOVE_LIMIT Recorded costs 10010 instead of 110, above the limit of 4000 (3 requests, 75 %)\n',
    );
    expect((await run(sized(1000), '--format github')).stdout).toContain('::error title=COST_ABOVE_LIMIT::Recorded costs 10010');
    const json = JSON.parse((await run(sized(1000), '--json')).stdout) as object;
    expect(json).toMatchObject({
      data: { check: { verdict: 'fail', costs: { maxCost: 5000, overLimitCount: 1, operations: [{ count: 3, after: 10_010 }, {}] } } },
    });
  });

  it('does so without a registry for the operations of a file', async () => {
    const [against, operations] = [join(registry.home, 'supergraph.yaml'), join(registry.home, 'operations.json')];
    await writeFile(join(registry.home, 'base.graphql'), SDL);
    await writeFile(against, 'subgraphs: { users: { routing_url: "http://users.example", schema: { file: ./base.graphql } } }');
    const clients = [{ name: 'web', version: '1', count: 5, lastSeen: '2026-01-30T10:00:00Z' }];
    const text = 'query Stored { users(first: 2) { friends { id } } }';
    await writeFile(operations, JSON.stringify({ days: 30, operations: [{ hash: 'h', name: 'Stored', text, clients }] }));
    const options = `--against ${against} --operations ${operations}`;
    expect(await run(sized(1000), options)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Stored costs 2002 instead of 22 (5 requests, 100 %)\n'),
    });
    expect(await run(sized(1000), `${options} --assumed-list-size 20`)).toMatchObject({
      stdout: expect.stringContaining('Stored costs 2002 instead of 42'),
    });
    expect(await run(sized(1000), `${options} --max-cost 2001`)).toMatchObject({ code: 1, stdout: expect.stringContaining('above the limit of 2001') }); // prettier-ignore
  });
});
