/** What waits behind requests in flight, with the lean reader and with the parser of Node.js. */
import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type Socket, connect } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createPipelinedBytes } from './pipelined-bytes.ts';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';

/** Each connection holds 32 KiB at least before it is no longer read, so that 256 of them hold 8 MiB. */
const [CONNECTIONS, KEPT] = [320, 256];

let service: Service | undefined;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await service?.stop();
});

describe('createPipelinedBytes', () => {
  const toSocket = (remoteAddress: string) => Object.assign(new EventEmitter(), { remoteAddress }) as unknown as Socket;

  it('limits each address, and all together', () => {
    const bytes = createPipelinedBytes({ maxOfAddress: 100, maxOfAll: 150 });
    const [first, second, other] = ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1'].map((address) => bytes.open(toSocket(address)));
    expect(first?.add(60)).toBe(true);
    expect(second?.add(60)).toBe(false);
    expect(second?.add(40)).toBe(true);
    expect(other?.add(60)).toBe(false);
    first?.remove(60);
    expect(other?.add(60)).toBe(true);
  });

  it('counts nothing of a connection that is closed', () => {
    const bytes = createPipelinedBytes({ maxOfAddress: 100 });
    const socket = toSocket('192.0.2.1');
    const closed = bytes.open(socket);
    closed.add(100);
    socket.emit('close');
    closed.remove(100);
    expect(closed.add(1)).toBe(false);
    const next = bytes.open(toSocket('192.0.2.1'));
    expect([next.add(101), next.add(100)]).toEqual([false, true]);
  });
});

describe.each([
  ['the lean reader', { get: /^\/reads$/ }],
  ['Node.js', undefined],
])('requests that a client pipelines on hundreds of connections: %s', (_, lean) => {
  const REQUEST = `GET /reads HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(2000)}\r\n\r\n`;

  it('hold 8 MiB at most, and end the connections that exceed it', async () => {
    const waiting: ServerResponse[] = [];
    const probes = createProbes({ isReady: () => true });
    service = await startService({
      ...{ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1', probes, lean },
      handle: (request, response) => {
        if (request.headers['x-last'] === undefined) waiting.push(response);
        else response.end();
      },
    });
    const { port } = service;
    let closed = 0;
    const open = async (text: string) => {
      const socket = connect({ port, host: '127.0.0.1' }).on('error', () => undefined);
      sockets.push(socket.on('close', () => closed++));
      socket.write(text);
      await once(socket, 'connect');
      return socket;
    };
    const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => open('GET /reads HTTP/1.1\r\nHost: a\r\n\r\n')));
    while (waiting.length < clients.length) await new Promise(setImmediate);
    for (const socket of clients) socket.write(REQUEST.repeat(30));
    while (closed < CONNECTIONS - KEPT) await new Promise(setImmediate);
    // A request that waits for nothing is answered all the same, and those that were read are.
    const other = await open('GET /reads HTTP/1.1\r\nHost: a\r\nX-Last: 1\r\n\r\n');
    await once(other, 'data');
    const left = clients.find((socket) => !socket.destroyed);
    for (const response of waiting.splice(0)) response.end('first');
    await once(left as Socket, 'data');
    expect(await probes.metrics.getSingleMetricAsString('trestle_connections_cut_total')).toMatch(
      /cause="too many requests at once"\} \d\d/,
    );
  });
});
