/** A gateway whose supergraph is a file: behind a link to a folder, deleted, and written again. */
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { type Federation, startFederation, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

let folder: string;
let federation: Federation;
let gateway: RunningProcess;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-file-'));
  federation = await startFederation({
    planets: {
      sdl: 'type Query { planet: Planet } type Planet @key(fields: "name") { name: ID! near: Planet }',
      resolvers: { Query: { planet: () => ({ name: 'Mars' }) } },
    },
  });
  await release('one', federation.supergraphSdl);
  gateway = await startGateway(['--supergraph', join(folder, 'current/supergraph.graphql'), '--port', '0', '--auth', 'off']);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  await federation.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Writes a supergraph to a folder of its own, and makes the link `current` lead there. */
async function release(name: string, sdl: string): Promise<void> {
  await mkdir(join(folder, name));
  await writeFile(join(folder, name, 'supergraph.graphql'), sdl);
  await symlink(name, join(folder, 'next'));
  await rename(join(folder, 'next'), join(folder, 'current'));
}

const serves = async (field: string) =>
  (await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: `{ planet { ${field} } }` } })).status === 200;
const isCurrent = () => readMetric(gateway.url, 'trestle_supergraph_current');

describe('a supergraph in a file', () => {
  it('is replaced when a link to the folder of the file is replaced', async () => {
    expect([await serves('name'), await serves('moons')]).toEqual([true, false]);
    await release('two', federation.supergraphSdl.replace('near: Planet', 'near: Planet\n  moons: Int'));
    await until(() => serves('moons'));
  });

  it('is current again when the file was deleted and has the same content again', async () => {
    const file = join(folder, 'two/supergraph.graphql');
    await rename(file, `${file}.old`);
    await until(async () => (await isCurrent()) === 0);
    await rename(`${file}.old`, file);
    await until(async () => (await isCurrent()) === 1);
    expect(await serves('moons')).toBe(true);
  });

  it('is not current when the file was deleted and has content again that was refused', async () => {
    const file = join(folder, 'two/supergraph.graphql');
    const readsOf = (result: string) => readMetric(gateway.url, `trestle_supergraph_reads_total{result="${result}"}`);
    await writeFile(file, 'type Query {');
    await until(async () => (await readsOf('refused')) === 1);
    const before = { failed: await readsOf('failed'), unchanged: await readsOf('unchanged') };
    await rename(file, `${file}.old`);
    await until(async () => (await readsOf('failed')) > before.failed);
    await rename(`${file}.old`, file);
    await until(async () => (await readsOf('unchanged')) > before.unchanged);
    expect([await isCurrent(), await serves('moons')]).toEqual([0, true]);
  });
});
