import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';

const LIMIT_MS = 100;
const services: Service[] = [];
afterEach(() => Promise.all(services.splice(0).map((service) => service.stop())));

/** Blocks the event loop again and again until `isOver`. */
async function blockUntil(isOver: () => Promise<boolean>): Promise<void> {
  do {
    const end = performance.now() + 3 * LIMIT_MS;
    while (performance.now() < end);
    await new Promise((resolve) => setImmediate(resolve));
  } while (!(await isOver()));
}

describe('a service with maxEventLoopDelayMs', () => {
  it('answers new requests 503 while its event loop is late, but serves those in flight and probes, and recovers', async () => {
    let release: () => void = () => undefined;
    const probes = createProbes({ isReady: () => true });
    const service = await startService({
      ...{ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1', probes, maxEventLoopDelayMs: LIMIT_MS },
      handle: (request, response) => {
        if (request.url === '/slow') release = () => response.end('slow');
        else response.end('own');
      },
      upgrade: (_, socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    });
    services.push(service);
    const url = `http://127.0.0.1:${String(service.port)}`;
    const slow = fetch(`${url}/slow`);
    expect(await fetch(url).then((reply) => reply.text())).toBe('own');
    let refused: Response | undefined;
    await blockUntil(async () => {
      const reply = await fetch(url);
      if (reply.status === 503) refused = reply;
      return refused !== undefined;
    });
    expect(refused?.headers.get('retry-after')).toBe('2');
    expect(await refused?.json()).toMatchObject({ error: { code: 'SERVICE_UNAVAILABLE' } });
    let upgrade = '';
    await blockUntil(async () => {
      upgrade = await requestUpgrade(service.port);
      return upgrade.startsWith('HTTP/1.1 503');
    });
    expect(upgrade).toMatch(/\r\nretry-after: 2\r\n/i);
    const paths = ['/livez', '/readyz', '/metrics'];
    const statuses: number[] = [];
    await blockUntil(async () => {
      statuses.splice(0, 9, ...(await Promise.all(paths.map((path) => fetch(url + path).then((reply) => reply.status)))));
      return (await fetch(url)).status === 503;
    });
    expect(statuses).toEqual([200, 200, 200]);
    release();
    expect(await slow.then((reply) => reply.text())).toBe('slow');
    let status = 503;
    while (status === 503) status = (await fetch(url)).status;
    expect(status).toBe(200);
    expect(Number(/^trestle_requests_shed_total (\d+)$/m.exec(await probes.metrics.metrics())?.[1])).toBeGreaterThanOrEqual(3);
  });
});

async function requestUpgrade(port: number): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n');
  const [data] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  return data.toString();
}
