import { afterEach, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from './probes.ts';
import { type Service, startService } from './service.ts';

const log = createLog({ service: 'test', level: 'silent' });
const services: Service[] = [];
afterEach(() => Promise.all(services.splice(0).map((service) => service.stop())));

async function start(
  isReady: () => boolean,
  handle: Parameters<typeof startService>[0]['handle'] = (_, response) => response.end('own'),
): Promise<string> {
  const service = await startService({ log, port: 0, host: '127.0.0.1', probes: createProbes({ isReady }), handle });
  services.push(service);
  return `http://127.0.0.1:${String(service.port)}`;
}

it('answers /livez always, /readyz once it can serve, /metrics as Prometheus text, and leaves the rest', async () => {
  let ready = false;
  const url = await start(() => ready);
  const status = (path: string) => fetch(url + path).then((reply) => reply.status);
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
  ready = true;
  expect(await status('/readyz')).toBe(200);
  expect(await fetch(`${url}/metrics`).then((reply) => reply.text())).toContain('process_cpu_seconds_total');
  expect(await fetch(`${url}/other`).then((reply) => reply.text())).toBe('own');
});

it('lets a request in hand finish when it stops', async () => {
  let release: () => void = () => undefined;
  let arrived: () => void = () => undefined;
  const inHand = new Promise<void>((resolve) => (arrived = resolve));
  const url = await start(
    () => true,
    (_, response) => {
      release = () => response.end('done');
      arrived();
    },
  );
  const reply = fetch(url).then((response) => response.text());
  await inHand;
  const stopped = services.pop()?.stop();
  release();
  expect(await reply).toBe('done');
  await stopped;
  await expect(fetch(url)).rejects.toThrow();
});

it('does not wait for a client that keeps a connection busy when it stops', async () => {
  const url = await start(() => true);
  const busy = (async () => {
    for (;;) if ((await fetch(url).catch(() => undefined)) === undefined) return;
  })();
  await fetch(url);
  const began = performance.now();
  await services.pop()?.stop();
  // Long before connections are cut off.
  expect(performance.now() - began).toBeLessThan(4000);
  await busy;
});

it('rejects when the port is taken', async () => {
  const url = await start(() => true);
  const again = startService({
    log,
    port: Number(new URL(url).port),
    host: '127.0.0.1',
    probes: createProbes({ isReady: () => true }),
    handle: () => undefined,
  });
  await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE' });
});
