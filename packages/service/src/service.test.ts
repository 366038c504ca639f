import type { IncomingMessage, ServerResponse } from 'node:http';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import type { Admission } from './admission/admission.ts';
import { createProbes } from './probes/probes.ts';
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

it('answers /livez always, /readyz once it is ready, /metrics as Prometheus text, and passes on all other requests', async () => {
  let ready = false;
  const url = await start(() => ready);
  const status = (path: string) => fetch(url + path).then((reply) => reply.status);
  expect([await status('/livez'), await status('/readyz')]).toEqual([200, 503]);
  ready = true;
  expect(await status('/readyz')).toBe(200);
  expect(await fetch(`${url}/metrics`).then((reply) => reply.text())).toContain('process_cpu_seconds_total');
  expect(await fetch(`${url}/other`).then((reply) => reply.text())).toBe('own');
});

it('completes a request in flight when it stops', async () => {
  let release: () => void = () => undefined;
  let arrived: () => void = () => undefined;
  const inFlight = new Promise<void>((resolve) => (arrived = resolve));
  const url = await start(
    () => true,
    (_, response) => {
      release = () => response.end('done');
      arrived();
    },
  );
  const reply = fetch(url).then((response) => response.text());
  await inFlight;
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

describe('an upgrade', () => {
  /** Sends a request as it is, and gives what comes until the connection is closed. */
  const exchange = (port: number, text: string) =>
    new Promise<string>((resolve) => {
      const chunks: Buffer[] = [];
      const socket = connect(port, '127.0.0.1', () => socket.write(text));
      socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined);
      socket.on('close', () => {
        resolve(Buffer.concat(chunks).toString());
      });
    });
  const ask = (upgrade: string, rest = '') =>
    `POST / HTTP/1.1\r\nHost: a\r\n${rest}Connection: close, upgrade\r\nUpgrade: ${upgrade}\r\nContent-Length: 5\r\n\r\nhello`;
  const open = async (upgrade?: Parameters<typeof startService>[0]['upgrade']) => {
    const handle = (request: IncomingMessage, response: ServerResponse) => {
      request.resume().once('end', () => response.end('served'));
    };
    const probes = createProbes({ isReady: () => true });
    const service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle, ...(upgrade && { upgrade }) });
    services.push(service);
    return service.port;
  };

  it('gets the connection when it asks for a WebSocket; any other is an ordinary request', async () => {
    const port = await open((request, socket) => socket.end(`mine: ${String(request.headers.upgrade)}`));
    expect(await exchange(port, ask('WebSocket'))).toBe('mine: WebSocket');
    expect(await exchange(port, ask('tea'))).toContain('served');
    expect(await exchange(port, ask('websocket', 'Host: b\r\n'))).toContain('400 Bad Request');
    expect(await exchange(await open(), ask('websocket'))).toContain('served');
  });

  it('ends the connection when a response is still to be sent, also when its body is not complete', async () => {
    const port = await open((_, socket) => socket.end('mine'));
    expect(await exchange(port, `GET / HTTP/1.1\r\nHost: a\r\n\r\n${ask('websocket').replace(': 5', ': 50')}`)).not.toContain('mine');
  });

  it('is cut off when the process stops and neither side closes it', async () => {
    let arrived: () => void = () => undefined;
    const upgraded = new Promise<void>((resolve) => (arrived = resolve));
    const probes = createProbes({ isReady: () => true });
    const handle = () => undefined;
    const service = await startService({
      log,
      port: 0,
      host: '127.0.0.1',
      probes,
      handle,
      drainMs: 20,
      upgrade: () => {
        arrived();
      },
    });
    const answer = exchange(service.port, ask('websocket'));
    await upgraded;
    await service.stop();
    expect(await answer).toBe('');
  });
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

// RFC 9112 §9.6, contract §1: a stop is announced before it takes place, so that no client sends to a closed connection.
describe('announceStop', () => {
  it('keeps the service serving for the delay, with /readyz at 503 and connections that end after their response', async () => {
    const probes = createProbes({ isReady: () => true });
    const handle = (_: IncomingMessage, response: ServerResponse) => response.end('own');
    const service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle, drainDelayMs: 700 });
    const url = `http://127.0.0.1:${String(service.port)}`;
    const before = await fetch(url);
    expect([await before.text(), before.headers.get('connection')]).toEqual(['own', 'keep-alive']);
    let isStopped = false;
    const stopped = service.stop().then(() => (isStopped = true));
    for (let served = 0; served < 3; served++) {
      const during = await fetch(url);
      expect([await during.text(), during.headers.get('connection')]).toEqual(['own', 'close']);
      expect((await fetch(`${url}/readyz`)).status).toBe(503);
      expect((await fetch(`${url}/livez`)).status).toBe(200);
      expect(isStopped).toBe(false);
    }
    await stopped;
    await expect(fetch(url)).rejects.toThrow();
  });
});

// contract §1: "to loopback peers or on METRICS_PORT, GET /metrics".
describe('/metrics', () => {
  it.each(['X-Forwarded-For', 'X-Forwarded-Proto', 'Forwarded', 'Via', 'X-Real-IP'])(
    'is not served to a request with %s, and /readyz then has no details',
    async (name) => {
      const probes = createProbes({ isReady: () => true, readDetails: () => ({ supergraph: 'abc' }) });
      const handle = (_: IncomingMessage, response: ServerResponse) => response.writeHead(404).end();
      const service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle });
      services.push(service);
      const url = `http://127.0.0.1:${String(service.port)}`;
      const headers = { [name]: 'x' };
      expect((await fetch(`${url}/metrics`, { headers })).status).toBe(404);
      expect(await (await fetch(`${url}/readyz`, { headers })).json()).toEqual({ status: 'ready' });
      expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: 'ready', supergraph: 'abc' });
    },
  );

  it('is served on the metrics port only when there is one, and probes there too', async () => {
    const port = await freePort();
    const probes = createProbes({ isReady: () => true });
    const handle = (_: IncomingMessage, response: ServerResponse) => response.writeHead(404).end();
    const service = await startService({ log, port: 0, host: '127.0.0.1', probes, handle, metricsPort: port });
    services.push(service);
    const url = `http://127.0.0.1:${String(port)}`;
    expect((await fetch(`http://127.0.0.1:${String(service.port)}/metrics`)).status).toBe(404);
    const headers = { 'x-forwarded-for': '192.0.2.1' };
    expect(await fetch(`${url}/metrics`, { headers }).then((reply) => reply.text())).toContain('process_cpu_seconds_total');
    const statuses = ['/livez', '/readyz', '/other'].map(async (path) => (await fetch(url + path, { headers })).status);
    expect(await Promise.all(statuses)).toEqual([200, 200, 404]);
  });
});

it('survives a handler that throws', async () => {
  const url = await start(
    () => true,
    () => {
      throw new Error('a fault of ours');
    },
  );
  await expect(fetch(url)).rejects.toThrow();
  expect((await fetch(`${url}/livez`)).status).toBe(200);
});

it('survives a handler that throws in a request that has waited for its turn', async () => {
  const ignore = () => undefined;
  // Each request begins in a later iteration of the event loop, as those that wait for a place do.
  const enter: Admission['enter'] = (task) => {
    setImmediate(() => {
      task.begin({ release: ignore });
    });
    return true;
  };
  const service = await startService({
    ...{ log, port: 0, host: '127.0.0.1', probes: createProbes({ isReady: () => true }) },
    admission: {
      ...{ isShared: () => true, hasSeveralClients: () => true, enter, leave: ignore, charge: ignore, now: () => 0, close: ignore },
      measure: (_, act) => {
        act();
      },
    },
    handle: (request, response) => {
      if (request.url === '/fault') throw new Error('a fault of ours');
      response.end();
    },
  });
  services.push(service);
  const url = `http://127.0.0.1:${String(service.port)}`;
  await expect(fetch(`${url}/fault`)).rejects.toThrow();
  expect((await fetch(url)).status).toBe(200);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}
