/** Subscriptions over TLS: WebSockets, and event streams over HTTP/2. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WebSocket } from 'ws';
import { until } from '../../stack/clients/client.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';
import { ARRIVALS, createHarbours } from '../../stack/federation/harbours.ts';
import { type Certificate, beginHttp2, createCertificate, openHttp2 } from '../../stack/clients/tls-client.ts';

const harbours = createHarbours();
const { arrivals } = harbours;
let home: string;
let certificate: Certificate;
let federation: Federation;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'trestle-live-tls-'));
  certificate = await createCertificate(home);
  federation = await startFederation(harbours.sources, { env: certificate.settings });
});
afterAll(async () => {
  await federation.stop();
  await rm(home, { recursive: true, force: true });
});
const listening = (count: number) => until(() => Promise.resolve(arrivals.listeners === count));
const address = () => `localhost:${String(federation.gateway.port)}/graphql`;
const PROTOCOL = 'graphql-transport-ws';

it('serves a WebSocket over TLS', async () => {
  const socket = new WebSocket(`wss://${address()}`, PROTOCOL, { ca: certificate.cert });
  const messages: unknown[] = [];
  socket.on('message', (data: Buffer) => messages.push(JSON.parse(data.toString())));
  await new Promise((resolve) => socket.once('open', resolve));
  socket.send('{"type":"connection_init"}');
  await until(() => Promise.resolve(messages.length === 1));
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: ARRIVALS } }));
  await listening(1);
  // Larger than a record of TLS.
  arrivals.publish({ id: 's1', name: 'x'.repeat(40_000) });
  await until(() => Promise.resolve(messages.length === 2));
  expect(messages[1]).toMatchObject({ id: '1', type: 'next', payload: { data: { arrived: { id: 's1', cargo: 'cargo of s1' } } } });
  socket.close();
  await listening(0);
});

it('redirects a WebSocket without TLS', async () => {
  const socket = new WebSocket(`ws://${address()}`, PROTOCOL);
  const { statusCode, headers } = await new Promise<{ statusCode?: number | undefined; headers: { location?: string | undefined } }>(
    (resolve) =>
      socket.once('unexpected-response', (_, response) => {
        resolve(response);
      }),
  );
  expect([statusCode, headers.location]).toEqual([308, `https://${address()}`]);
  socket.on('error', () => undefined).terminate();
});

it('serves several event streams on one connection of HTTP/2, and ends each separately', async () => {
  const session = openHttp2(certificate, federation.gateway.port);
  const streams = [1, 2, 3].map(() =>
    beginHttp2(session, {
      method: 'POST',
      path: '/graphql',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
      body: JSON.stringify({ query: ARRIVALS }),
    }),
  );
  const texts = streams.map((stream) => {
    const state = { text: '' };
    stream.setEncoding('utf8').on('data', (chunk: string) => (state.text += chunk));
    return state;
  });
  const holds = (check: () => boolean) => until(() => Promise.resolve(check()));
  // The stream's head and its first comment are there before any event.
  await holds(() => texts.every(({ text }) => text === ':\n\n'));
  await listening(1);
  arrivals.publish({ id: 's2', name: 'Two' });
  await holds(() => texts.every(({ text }) => text.includes('cargo of s2')));
  streams[0]?.close();
  arrivals.publish({ id: 's3', name: 'Three' });
  await holds(() => texts.slice(1).every(({ text }) => text.includes('cargo of s3')));
  expect(texts[0]?.text).not.toContain('s3');
  for (const stream of streams) stream.close();
  await listening(0);
  session.close();
});
