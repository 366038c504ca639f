/** Open WebSockets and event streams of callers whose issuer removes the key of their tokens. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type TestIssuer, startTestIssuer } from '@trestle/identity/verification/test-issuer';
import { until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { createTopic } from '../../stack/federation/topic.ts';

const ticked = createTopic<{ readonly n: number }>();
const SUBGRAPH = {
  only: {
    sdl: 'type Query { open: Int @authenticated } type Subscription { n: Int @authenticated }',
    resolvers: { Query: { open: () => 1 }, Subscription: { n: { subscribe: () => ticked.listen() } } },
  },
};
const EVENTS = 'subscription { n }';

let folder: string;
let issuer: TestIssuer;
let federation: Federation;
beforeAll(async () => {
  issuer = await startTestIssuer();
  folder = await mkdtemp(join(tmpdir(), 'trestle-removed-key-'));
  const file = join(folder, 'issuers.json');
  await writeFile(file, JSON.stringify({ issuers: [{ name: 'acme', issuer: issuer.issuer, audience: 'trestle-api' }] }));
  federation = await startFederation(SUBGRAPH, { args: ['--auth', 'on'], env: { TRUSTED_ISSUERS_FILE: file } });
});
afterAll(async () => {
  await federation.stop();
  await issuer.close();
  await rm(folder, { recursive: true, force: true });
});

it('end when the keys are loaded, while those of the new key go on', async () => {
  const { origin } = new URL(federation.url);
  const old = await issuer.sign({ exp: Math.floor(Date.now() / 1000) + 3600 });
  const socket = subscribeTo(origin, { query: EVENTS, token: old });
  const stream = await openEventStream(federation.url, { query: EVENTS, headers: { authorization: `Bearer ${old}` } });
  await until(() => Promise.resolve(ticked.listeners > 0));
  await issuer.rotate('second');
  const token = await issuer.sign();
  const ask = () => federation.ask('{ open }', {}, { authorization: `Bearer ${token}` });
  await until(async () => (await ask()).status === 200);
  expect(await socket.end()).toEqual({ close: 4403 });
  await until(() => Promise.resolve(stream.isOver));
  expect(stream.text).toContain('UNAUTHORIZED');
  await until(() => Promise.resolve(ticked.listeners === 0));
  const later = subscribeTo(origin, { query: EVENTS, token });
  await until(() => Promise.resolve(ticked.listeners > 0));
  ticked.publish({ n: 2 });
  expect(await later.wait(1)).toEqual([{ data: { n: 2 } }]);
  await later.stop();
});
