/**
 * Hive Gateway, as npm installs it, takes launches from the registry unmodified: by the protocol of Hive's CDN and by that of Apollo Uplink. It is
 * no dependency of this repository, since it brings 700 packages: install it in bench/peers. Without it these tests are skipped, and say so.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { reserveTestPort } from '@trestle/service/testing/test-port';
import { request, until } from '../../stack/clients/client.ts';
import { type TestSubgraph, startSubgraph } from '../cli/test-subgraph.ts';
import { type TestRegistry, newEnvironment, startRegistry } from './registry-client.ts';

const PEERS = fileURLToPath(new URL('../../../bench/peers', import.meta.url));
const HIVE = `${PEERS}/node_modules/@graphql-hive/gateway/dist/bin.js`;
const IS_INSTALLED = existsSync(HIVE);
/** It polls no more often. */
const POLLING = '10s';
const SDL = 'type Query { base: Int }';

if (!IS_INSTALLED) process.stderr.write('\n*** Hive Gateway is not tested: it is not installed. Run `npm install` in bench/peers. ***\n\n');

let registry: TestRegistry;
let subgraph: TestSubgraph;
let hive: ChildProcess | undefined;
let output = '';

/** The flags by which Hive Gateway takes the supergraph of an environment. */
const SOURCES = {
  "Hive's CDN": (environment: string) => [
    ...['--hive-cdn-endpoint', `${registry.url}/artifacts/v1/${environment}`, '--hive-cdn-key', registry.token],
  ],
  'Apollo Uplink': (environment: string) => [
    ...['--apollo-graph-ref', `trestle@${environment}`, '--apollo-key', registry.token, '--apollo-uplink', `${registry.url}/uplink`],
  ],
};

(IS_INSTALLED ? describe : describe.skip)('Hive Gateway from npm', () => {
  beforeAll(async () => {
    [registry, subgraph] = await Promise.all([startRegistry(), startSubgraph(SDL)]);
  });
  afterEach(() => {
    hive?.kill('SIGKILL');
  });
  afterAll(async () => {
    await Promise.all([registry.stop(), subgraph.stop()]);
  });

  it.each(Object.entries(SOURCES))('serves what is published and rolled back, by the protocol of %s', async (_, toFlags) => {
    const environment = newEnvironment();
    const change = async (name: string, input: object) => {
      const type = `${name.slice(0, 1).toUpperCase()}${name.slice(1)}Input`;
      const mutation = `mutation ($input: ${type}!) { ${name}(input: $input) { __typename } }`;
      expect((await registry.graphql(mutation, { input: { environment, ...input } })).errors).toEqual([]);
    };
    const publish = async (sdl: string) => {
      subgraph.deploy(sdl);
      await change('publishSubgraphs', { subgraphs: [{ name: 'base', url: subgraph.url, sdl }] });
    };
    await publish(SDL);
    output = '';
    const port = await reserveTestPort();
    const flags = ['supergraph', ...toFlags(environment), '--port', String(port), '--host', '127.0.0.1', '--polling', POLLING];
    hive = spawn(process.execPath, [HIVE, ...flags], { cwd: PEERS, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [hive.stdout, hive.stderr])
      stream?.on('data', (chunk: Buffer) => (output = `${output}${chunk.toString()}`.slice(-4000)));
    const ask = async (query: string) =>
      JSON.stringify((await request(`http://127.0.0.1:${String(port)}/graphql`, { method: 'POST', body: { query } })).body);
    const settle = (check: () => Promise<boolean>) =>
      until(check).catch((error: unknown) => {
        throw new Error(`Hive Gateway has written:\n${output}`, { cause: error });
      });
    await settle(async () => (await ask('{ base }')) === '{"data":{"base":null}}');
    expect(await ask('{ base more }')).toContain('errors');
    await publish('type Query { base: Int more: Int }');
    await settle(async () => (await ask('{ base more }')) === '{"data":{"base":null,"more":null}}');
    await change('rollback', {});
    await settle(async () => (await ask('{ base more }')).includes('Cannot query field'));
    expect(await ask('{ base }')).toBe('{"data":{"base":null}}');
  });
});
