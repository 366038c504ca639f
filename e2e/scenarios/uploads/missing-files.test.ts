/** Requests whose `map` names files that do not arrive, at a subgraph that does not check it itself. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { compose, startGateway } from '../../stack/federation/federation.ts';
import { sendFiles } from '../../stack/clients/multipart.ts';
import type { RunningProcess } from '../../stack/processes/process.ts';

const QUERY = 'mutation ($a: Upload, $b: Upload) { keep(a: $a, b: $b) }';

let subgraph: Server;
let gateway: RunningProcess;
let home: string;
let executed = 0;
beforeAll(async () => {
  subgraph = createServer((request, response) => {
    request.resume().once('end', () => {
      executed++;
      response.setHeader('content-type', 'application/json').end('{"data":{"keep":true}}');
    });
  });
  await new Promise<void>((resolve) => subgraph.listen(0, '127.0.0.1', resolve));
  const files = { sdl: 'scalar Upload type Query { a: Int } type Mutation { keep(a: Upload, b: Upload): Boolean }' };
  home = await mkdtemp(join(tmpdir(), 'trestle-missing-files-'));
  const supergraph = join(home, 'supergraph.graphql');
  await writeFile(
    supergraph,
    await compose({ files }, { files: `http://127.0.0.1:${String((subgraph.address() as AddressInfo).port)}/graphql` }),
  );
  gateway = await startGateway(['--supergraph', supergraph, '--port', '0', '--auth', 'off']);
});
afterAll(async () => {
  await gateway.end('SIGTERM');
  subgraph.closeAllConnections();
  subgraph.close();
  await rm(home, { recursive: true, force: true });
});
beforeEach(() => {
  executed = 0;
});

const MAP = { a: ['variables.a'], b: ['variables.b'] };
const send = (files: Record<string, Buffer>) =>
  sendFiles(gateway.url, {
    ...{ query: QUERY, variables: { a: null, b: null }, files, map: MAP },
    headers: { 'apollo-require-preflight': '1' },
  });

it('executes an operation whose files arrive', async () => {
  const { status, body } = await send({ a: Buffer.from('a'), b: Buffer.alloc(0) });
  expect([status, body.data, executed]).toEqual([200, { keep: true }, 1]);
});

it('returns 400 and executes nothing when no file arrives', async () => {
  const { status, body } = await send({});
  expect([status, body.errors?.[0]?.message, body.errors?.[0]?.extensions['code'], executed]).toEqual([
    400,
    'The multipart request lacks the files a, b of its `map`.',
    'VALIDATION_ERROR',
    0,
  ]);
});

it('returns an error of the field, and the subgraph executes nothing, when one of two files does not arrive', async () => {
  const { status, body } = await send({ a: Buffer.alloc(3_000_000, 'a') });
  expect([status, body.data, body.errors?.[0]?.message, body.errors?.[0]?.extensions['code'], executed]).toEqual([
    200,
    { keep: null },
    'The multipart request lacks the files b of its `map`.',
    'VALIDATION_ERROR',
    0,
  ]);
});
