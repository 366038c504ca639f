/** A subgraph at two addresses: the loss of one process fails no query, and it gets requests again when it is back (issue 16 point 6). */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readMetric, request, until } from '../../stack/clients/client.ts';
import { compose, startGateway } from '../../stack/federation/federation.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

/** A subgraph that answers with its name after a few milliseconds, so that requests are in flight when it is killed. */
const SUBGRAPH = `
const [port, name] = process.argv.slice(1);
const server = require('node:http').createServer((request, response) => {
  request.resume().on('end', () => setTimeout(() => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data: { name } }));
  }, 5));
}).listen(Number(port), '127.0.0.1', () => process.send(server.address().port));`;
const CLIENTS = 8;

const children: ChildProcess[] = [];
async function startSubgraph(name: string, port = 0): Promise<{ readonly child: ChildProcess; readonly port: number }> {
  const child = spawn(process.execPath, ['-e', SUBGRAPH, String(port), name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  children.push(child);
  const [opened] = (await once(child, 'message')) as [number];
  return { child, port: opened };
}

let folder: string;
let gateway: RunningProcess;
let first: Awaited<ReturnType<typeof startSubgraph>>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-addresses-'));
  first = await startSubgraph('first');
  const second = await startSubgraph('second');
  const urls = [first, second].map(({ port }) => `http://127.0.0.1:${String(port)}/graphql`);
  await writeFile(join(folder, 'supergraph.graphql'), await compose({ names: { sdl: 'type Query { name: String }' } }, {}));
  const lines = [
    'supergraph: { file: supergraph.graphql }',
    'server: { port: 0 }',
    'authentication: { enabled: false }',
    `subgraphs: { names: { urls: ${JSON.stringify(urls)}, traffic: { retryPercent: 0, ejectionFailures: 3, ejectionMs: 100 } } }`,
  ];
  await writeFile(join(folder, 'trestle.yaml'), lines.join('\n'));
  gateway = await startGateway(['--config', join(folder, 'trestle.yaml')]);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  for (const child of children) child.kill('SIGKILL');
  await rm(folder, { recursive: true, force: true });
});

it('fails no query when one of two processes is killed under load, and uses it again when it is back', async () => {
  const answers: string[] = [];
  const faults: unknown[] = [];
  let isOver = false;
  const ask = async () => {
    while (!isOver) {
      const { body } = await request(`${gateway.url}/graphql`, { method: 'POST', body: { query: '{ name }' } });
      const { data } = body as { data?: { name?: string } };
      if (data?.name === undefined) faults.push(body);
      else answers.push(data.name);
    }
  };
  const load = Array.from({ length: CLIENTS }, ask);
  const servedBy = (name: string) => {
    const from = answers.length;
    return until(() => Promise.resolve(faults.length > 0 || answers.slice(from).includes(name)));
  };
  await servedBy('first');
  await servedBy('second');
  first.child.kill('SIGKILL');
  await once(first.child, 'exit');
  const ejections = `trestle_subgraph_ejections_total{subgraph="names",address="127.0.0.1:${String(first.port)}"}`;
  await until(async () => (await readMetric(gateway.url, ejections)) > 0);
  await servedBy('second');
  await startSubgraph('first', first.port);
  await servedBy('first');
  isOver = true;
  await Promise.all(load);
  expect(faults).toEqual([]);
});
