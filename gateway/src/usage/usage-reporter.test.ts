/** Reports of usage, to a server that answers as a test says. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { OperationUsage } from '../request/operation-usage.ts';
import { type Respond, type TestServer, beDown, startTestServer } from '../sources/test-server.ts';
import { toRegistry } from './registry/registry-destination.ts';
import { UsageReporter } from './usage-reporter.ts';

const A: OperationUsage = { hash: 'aa', name: 'A', text: '{a}', kind: 'query', uses: ['Query.a'] };
const PARAMETERS = { query: '{a}', extensions: {} };
const TAKEN: Respond = (response) => {
  response.end('{"missing":[]}');
};

const answer =
  (status: number): Respond =>
  (response) => {
    response.writeHead(status).end();
  };

let server: TestServer;
let metrics: Registry;
let reporter: UsageReporter | undefined;
const warnings: string[] = [];
beforeEach(async () => {
  server = await startTestServer(TAKEN);
  metrics = new Registry();
  warnings.length = 0;
});
afterEach(async () => {
  await reporter?.stop();
  await server.stop();
});
const start = (maxBytes = 1e6) => {
  const note = (message: string) => {
    warnings.push(message);
  };
  reporter = new UsageReporter({
    ...{ destination: toRegistry({ url: server.url, environment: 'prod', token: 'secret' }), intervalMs: 10, maxBytes },
    ...{ log: { info: note, warn: note, error: note }, metrics, retries: { firstMs: 5, maxMs: 10 } },
  });
  return reporter;
};
const send = (to: UsageReporter, operation = A) => {
  const usage = to.begin({ client: { name: 'web', version: '1' }, parameters: PARAMETERS });
  usage.operation = operation;
  usage.end({ isError: false, isCached: false });
};
const until = async (condition: () => boolean) => {
  while (!condition()) await delay(2);
};
const bodies = () => server.received.map(({ body }) => JSON.parse(body) as { id: string; operations: { text?: string }[]; rows: object[] });
const outcome = async (name: string) =>
  (await metrics.getSingleMetric('trestle_usage_requests_total')?.get())?.values.find(({ labels }) => labels['outcome'] === name)?.value;

describe('UsageReporter', () => {
  it('sends what was counted to the environment with the token, and the text of an operation once', async () => {
    const to = start();
    send(to);
    await until(() => server.received.length === 1);
    send(to);
    await until(() => server.received.length === 2);
    expect(server.received[0]).toMatchObject({ method: 'POST', path: '/usage/prod', headers: { authorization: 'Bearer secret' } });
    expect(bodies().map(({ operations }) => operations[0]?.text)).toEqual(['{a}', undefined]);
    expect(bodies()[0]?.rows).toMatchObject([{ count: 1, errors: 0 }]);
  });

  it('sends a text again that the registry does not have', async () => {
    server.respond = (response) => {
      response.end('{"missing":["aa"]}');
    };
    const to = start();
    send(to);
    const texts = () => bodies().filter(({ operations }) => operations[0]?.text === '{a}').length;
    await until(() => {
      send(to);
      return texts() === 2;
    });
  });

  it.each([
    ['is down', beDown],
    ['fails', answer(503)],
    ['does not accept the token', answer(403)],
  ])('sends the same report again while the registry %s, and warns once', async (_, respond) => {
    server.respond = respond;
    const to = start();
    send(to);
    await until(() => server.received.length >= 3);
    server.respond = TAKEN;
    const { length } = server.received;
    await until(() => server.received.length > length);
    await to.stop();
    expect(new Set(bodies().map(({ id }) => id)).size).toBe(1);
    expect(warnings).toEqual([expect.stringContaining('the scope REPORT')]);
    expect(await outcome('reported')).toBe(1);
  });

  it('sends a report again no sooner than Retry-After says', async () => {
    const times: number[] = [];
    server.respond = (response) => {
      times.push(performance.now());
      if (times.length > 1) response.end('{"missing":[]}');
      else response.writeHead(429, { 'retry-after': '1' }).end();
    };
    send(start());
    await until(() => times.length === 2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(900);
  });

  it('does not repeat a report that the registry refuses, and sends its texts with the next one', async () => {
    server.respond = answer(400);
    const to = start();
    send(to);
    await until(() => server.received.length === 1 && warnings.length === 1);
    server.respond = TAKEN;
    send(to);
    await until(() => server.received.length === 2);
    expect(bodies()[1]?.operations[0]?.text).toBe('{a}');
    expect(bodies()[1]?.id).not.toBe(bodies()[0]?.id);
    expect(await outcome('refused')).toBe(1);
  });

  it('drops the oldest reports beyond the bound of memory, and counts their requests', async () => {
    server.respond = beDown;
    const to = start(8000);
    let sent = 0;
    // While the registry is down the oldest report is sent again and again. Another one is sent when that was dropped.
    while (new Set(bodies().map(({ id }) => id)).size < 2) {
      send(to, { ...A, text: `{${'a'.repeat(500)}}`, hash: String(sent++) });
      await delay(1);
    }
    server.respond = TAKEN;
    await to.stop();
    const dropped = (await outcome('dropped')) ?? 0;
    expect(dropped).toBeGreaterThan(0);
    expect(dropped + ((await outcome('reported')) ?? 0)).toBe(sent);
  });

  it('sends what is left when it stops, and gives up after its time limit', async () => {
    const to = start();
    send(to);
    await to.stop();
    expect(server.received).toHaveLength(1);
    server.respond = () => undefined;
    metrics = new Registry();
    const other = start();
    send(other);
    const stopped = other.stop();
    await until(() => server.received.length === 2);
    await stopped;
    expect(await outcome('dropped')).toBe(1);
  });
});
