/** `trestle subgraph check` with what clients sent, and subscriptions among it (docs/cli.md). */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type Federation, LINK, startFederation, startGateway } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { ROOT, type RunningProcess } from '../../stack/processes/process.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { type TestRegistry, newEnvironment, publish, startRegistry } from '../registry/registry-client.ts';
import { createToken, readUsage } from './usage-client.ts';

let registry: TestRegistry;
let federation: Federation;
let gateway: RunningProcess | undefined;
let environment: string;
const harbours = createHarbours();
const sdlOf = (name: 'harbours' | 'cargoes') => LINK + (harbours.sources[name]?.sdl ?? '');

beforeAll(async () => {
  const env = { REGISTRY_CHECK_ENOUGH_DAYS: '0', REGISTRY_CHECK_ENOUGH_REQUESTS: '10' };
  [registry, federation] = await Promise.all([startRegistry(env), startFederation(harbours.sources)]);
  environment = newEnvironment();
  await publish(registry, environment, { harbours: sdlOf('harbours'), cargoes: sdlOf('cargoes') });
  const urls = [...federation.supergraphSdl.matchAll(/name: "(\w+)", url: "([^"]+)"/g)].map(([, name = '', url = '']) => [name, url]);
  gateway = await startGateway(['--port', '0', '--auth', 'off'], {
    ...{ REGISTRY_URL: registry.url, REGISTRY_ENVIRONMENT: environment, REGISTRY_TOKEN: await createToken(registry, ['READ', 'REPORT']) },
    ...{ REGISTRY_PUBLIC_KEY_FILE: registry.publicKeyFile, USAGE_INTERVAL_MS: '200' },
    ...Object.fromEntries(urls.map(([name = '', url = '']) => [`SUBGRAPH_URL_${name.toUpperCase()}`, url])),
  });
}, 120_000);
afterAll(async () => {
  await gateway?.end('SIGTERM');
  await Promise.all([federation.stop(), registry.stop()]);
});

const sockets: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  await Promise.all(sockets.splice(0).map((socket) => socket.close()));
});
interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
const check = async (sdl: string, options = ''): Promise<Outcome> => {
  const file = join(registry.home, 'cargoes.graphql');
  await writeFile(file, sdl);
  const env = {
    ...{ PATH: process.env['PATH'], REGISTRY_URL: registry.url, REGISTRY_TOKEN: registry.token },
    REGISTRY_ENVIRONMENT: environment,
  };
  const args = [join(ROOT, 'packages/cli/bin/trestle.mjs'), 'subgraph', 'check', `cargoes=${file}`, ...options.split(' ').filter(Boolean)];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { env }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr });
    });
  });
};

describe('trestle subgraph check', () => {
  it('says which operation of which client a change breaks, a subscription too, and has an exit code for each verdict', async () => {
    const without = sdlOf('cargoes').replace('id: ID! cargo: String', 'id: ID! load: String');
    expect(await check(without)).toMatchObject({ code: 1, stdout: expect.stringContaining('No usage is recorded') });
    const client = await openSocket(`${gateway?.url ?? ''}/graphql`, { headers: { 'apollographql-client-name': 'quay' } });
    sockets.push(client);
    client.send({ id: '1', type: 'subscribe', payload: { query: ARRIVALS } });
    await until(async () => (await readUsage(registry, environment)).requests === 1);
    harbours.arrivals.publish({ id: 's1', name: 'Ship' });
    expect(await client.next()).toMatchObject({ payload: { data: { arrived: { cargo: 'cargo of s1' } } } });
    const refused = await check(without);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/breaking FIELD_REMOVED .*\n {2}used by Arrivals of quay \(1 requests, 100 %, last \d{4}-[^)]+Z\)/u);
    expect(refused.stdout).toContain('Decided by 1 requests of 1 operations; usage is recorded for 0 days.');
    const unused = sdlOf('cargoes').replace('cargo: String }', '}').replace('type Query { }', 'type Query { other: Int }');
    expect(await check(unused)).toMatchObject({ code: 3, stdout: expect.stringContaining('Not enough data') });
    expect(await check(unused, '--enough-requests 1')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('(no recorded operation uses it)'),
    });
    expect(await check(without, '--exclude-client quay --enough-requests 0')).toMatchObject({ code: 0 });
    expect(await check(without, '--additions never')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--additions must be one of'),
    });
    const json = JSON.parse((await check(without, '--json')).stdout) as { data: { check: object } };
    expect(json.data.check).toMatchObject({
      ...{ verdict: 'fail', usage: { requests: 1, operations: 1, isComplete: true } },
      changes: expect.arrayContaining([
        expect.objectContaining({
          coordinate: 'Ship.cargo',
          verdict: 'fail',
          affected: [expect.objectContaining({ name: 'Arrivals', percent: 100 })],
        }),
      ]),
    });
  });
});
