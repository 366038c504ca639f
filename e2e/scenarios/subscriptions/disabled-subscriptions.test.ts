/** Subscriptions that are switched off: refused by every transport, in both engines, and at once by a changed configuration. */
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { subscribeTo } from '../../stack/clients/subscriber.ts';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

async function* ticks() {
  yield { ticked: 1 };
  await new Promise<void>(() => undefined);
}
const SOURCES = {
  clock: {
    sdl: 'type Query { now: Int } type Subscription { ticked: Int }',
    resolvers: { Query: { now: () => 1 }, Subscription: { ticked: { subscribe: ticks } } },
  },
};

/** Asks for a WebSocket, and returns the response; 101 without a body. */
const upgrade = (url: string) =>
  new Promise<{ status: number | undefined; body: string }>((resolve, reject) => {
    const headers = {
      ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
      ...{ 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==', 'sec-websocket-protocol': 'graphql-transport-ws' },
    };
    const asked = httpRequest(`${url}/graphql`, { headers });
    asked.on('response', (response) => {
      text(response).then((body) => {
        resolve({ status: response.statusCode, body });
      }, reject);
    });
    asked.on('upgrade', (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, body: '' });
    });
    asked.on('error', reject);
    asked.end();
  });

describe.each(['trestle', 'apollo'])('with subscriptions.enabled: false, the engine %s', (engine) => {
  let federation: Federation;
  beforeAll(async () => {
    federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--engine', engine], env: { SUBSCRIPTIONS: 'off' } });
  });
  afterAll(() => federation.stop());

  it.each(['application/json', 'application/graphql-response+json', 'text/event-stream', 'multipart/mixed;subscriptionSpec=1.0'])(
    'refuses a subscription by POST that accepts %s',
    async (accept) => {
      const response = await fetch(federation.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query: 'subscription { ticked }' }),
      });
      const body = await response.text();
      expect(body).toContain('Subscriptions have been disabled.');
      expect(body).toContain('"code":"VALIDATION_ERROR"');
      expect(federation.received).toEqual([]);
    },
  );

  it('refuses WebSockets with 403 and the reason', async () => {
    const { status, body } = await upgrade(federation.gateway.url);
    expect([status, JSON.parse(body)]).toEqual([
      403,
      {
        errors: [
          {
            message: 'Subscriptions have been disabled, and WebSockets with them. Send queries and mutations by POST.',
            extensions: { code: 'FORBIDDEN', requestId: expect.stringMatching(/^[\da-f-]{36}$/) },
          },
        ],
      },
    ]);
  });

  it('answers queries, and describes subscriptions in the schema', async () => {
    expect((await federation.ask('{ now __schema { subscriptionType { name } } }')).body.data).toEqual({
      now: 1,
      __schema: { subscriptionType: { name: 'Subscription' } },
    });
  });
});

describe('subscriptions.enabled', () => {
  it('takes effect at once: those in progress end, and new ones are refused until it is on again', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-disabled-'));
    const file = join(home, 'trestle.yaml');
    const choose = async (isEnabled: boolean) => {
      await writeFile(`${file}.next`, `subscriptions: { enabled: ${String(isEnabled)} }\n`);
      await rename(`${file}.next`, file);
    };
    await choose(true);
    const federation = await startFederation(SOURCES, { args: ['--auth', 'off', '--config', file] });
    const { url } = federation.gateway;
    const subscriber = subscribeTo(url, { query: 'subscription { ticked }', token: undefined });
    await until(() => Promise.resolve(federation.received.length > 0));
    await choose(false);
    await subscriber.end();
    expect(subscriber.results.at(-1)).toMatchObject({ errors: [{ extensions: { code: 'SUBSCRIPTION_SCHEMA_RELOAD' } }] });
    await until(async () => (await upgrade(url)).status === 403);
    await choose(true);
    await until(async () => (await upgrade(url)).status === 101);
    await subscriber.stop();
    await federation.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('must be on for subscriptions of the response cache', async () => {
    const home = await mkdtemp(join(tmpdir(), 'trestle-disabled-'));
    const file = join(home, 'events.graphql');
    await writeFile(file, 'subscription Ticked { ticked }');
    const env = { SUBSCRIPTIONS: 'off', RESPONSE_CACHE: 'memory', RESPONSE_CACHE_SUBSCRIPTIONS_FILE: file };
    await expect(startFederation(SOURCES, { env })).rejects.toThrow('SUBSCRIPTIONS: must be on');
    await expect(startFederation(SOURCES, { env: { SUBSCRIPTIONS: 'never' } })).rejects.toThrow('SUBSCRIPTIONS: must be on or off');
    await rm(home, { recursive: true, force: true });
  });
});
