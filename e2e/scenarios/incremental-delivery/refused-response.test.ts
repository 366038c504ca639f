/** An extension that refuses the first part of a result: nothing follows it, so its deferred fetches and its execution end. */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { request, until } from '../../stack/clients/client.ts';
import { type Collector, startCollector } from '../../stack/collectors/collector.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { TIDES } from '../../stack/federation/tides.ts';

const toModule = (gate: string) => `
const onResponse = async (event) => {
  await fetch('${gate}');
  event.refuse('FORBIDDEN', 'Refused by the test.');
};
export default async () => [{ name: 'refusing', onResponse }];
`;

/** Answers once the deferred fetch has arrived. */
let gate: Server;
let open: () => void;
const opened = new Promise<void>((resolve) => (open = resolve));
let folder: string;
let collector: Collector;
let federation: Federation;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'trestle-refusing-'));
  const file = join(folder, 'extensions.mjs');
  gate = createServer((_, response) => void opened.then(() => response.end())).listen(0, '127.0.0.1');
  await once(gate, 'listening');
  await writeFile(file, toModule(`http://127.0.0.1:${String((gate.address() as AddressInfo).port)}/`));
  collector = await startCollector();
  const env = { MAX_DEFERRED: '10', EXTENSIONS_FILE: file, OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint };
  // The limit of a fetch is longer than a test may take.
  federation = await startFederation(TIDES, { env: { ...env, SUBGRAPH_TIMEOUT_MS: '300000' } });
});
afterAll(async () => {
  await federation.stop();
  await collector.stop();
  gate.closeAllConnections();
  await new Promise((resolve) => gate.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

it('ends the deferred fetches and the span of the execution when an extension has refused the first response', async () => {
  let isAborted = false;
  federation.intercept = ({ subgraph }, { socket }) => {
    if (subgraph !== 'tides') return undefined;
    open();
    return new Promise((resolve) => {
      socket.once('close', () => {
        isAborted = true;
        resolve(undefined);
      });
    });
  };
  const headers = { accept: 'multipart/mixed, application/json' };
  const body = { query: '{ harbour { code ... @defer { tide } } }' };
  const refused = await request(federation.url, { method: 'POST', body, headers });
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('Refused by the test.')]);
  await until(() => Promise.resolve(isAborted));
  const names = () => collector.spans.map(({ name }) => name).filter((name) => name !== 'GraphQL plan');
  await until(() => Promise.resolve(names().length === 4));
  expect(names().sort()).toEqual(['GraphQL execute', 'POST', 'POST', 'POST /graphql']);
});
