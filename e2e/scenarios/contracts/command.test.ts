/** The commands `trestle contract …`, as processes of the command's package (docs/cli.md). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PackedCommand, installCommand } from '../cli/packed-command.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { ORDERS, USERS } from './contract-client.ts';

let command: PackedCommand;
let registry: TestRegistry;
beforeAll(async () => {
  [command, registry] = await Promise.all([installCommand(), startRegistry()]);
}, 120_000);
afterAll(async () => {
  await Promise.all([command.remove(), registry.stop()]);
});

describe('trestle contract', () => {
  it('creates, lists, shows, updates and deletes a contract, and a check names it', async () => {
    const environment = newEnvironment();
    await publish(registry, environment, { users: USERS, orders: ORDERS });
    const env = { REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token, REGISTRY_ENVIRONMENT: environment };
    const run = (line: string) => command.run(line.split(' '), env);
    expect(await run('contract create partner --include-tag partner --exclude-tag internal')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^partner 1 {2}include partner; exclude internal {2}[\s\S]*Served from release 2 /u),
    });
    expect((await run('contract list')).stdout).toMatch(/^partner 1 {2}include partner/u);
    expect((await run('contract show partner --api')).stdout).toContain('orders: [Order]');
    expect((await run('contract show partner --api')).stdout).not.toContain('cost');
    expect((await run('supergraph fetch --contract partner')).stdout).toContain('@inaccessible');
    expect(JSON.parse((await run('contract show partner --json')).stdout)).toMatchObject({ data: { contract: { include: ['partner'] } } });

    await writeFile(join(command.folder, 'orders.graphql'), ORDERS.replace('orders: [Order] @tag(name: "partner")', 'orders: [Order]'));
    expect(await run('subgraph check orders.graphql')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/FIELD_REMOVED Contract partner: Field .?orders/u),
    });

    const refused = await run('contract update partner --include-tag nobody');
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining('Nothing was changed') });
    expect(await run('contract update partner --include-tag public --no-hide-unreachable-types')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('partner 2  include public; with unreachable types'),
    });
    expect(await run('contract delete partner')).toMatchObject({ code: 2 });
    expect(await run('contract delete partner --confirm')).toMatchObject({ code: 0, stdout: expect.stringContaining('with release 4') });
    expect(await run('contract show partner')).toMatchObject({ code: 4 });
    expect(await run('contract create partner')).toMatchObject({ code: 0, stdout: expect.stringContaining('partner 4  everything') });
  });
});
