import { once } from 'node:events';
import { type Socket, connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { type Service, startService } from '../service.ts';
import { createSelfSigned } from '../testing/test-authority.ts';
import type { Handle } from './pipelining.ts';

let service: Service | undefined;
let socket: Socket | undefined;
afterEach(async () => {
  socket?.destroy();
  await service?.stop();
});

/** Starts a service with this handler, and opens a connection to it. */
async function open(handle: Handle): Promise<Socket> {
  const probes = createProbes({ isReady: () => true });
  service = await startService({ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1', probes, handle });
  socket = connect(service.port, '127.0.0.1').on('error', () => undefined);
  await once(socket, 'connect');
  return socket;
}

describe('requests that a client pipelines on one connection', () => {
  const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

  it('are handled one after the other, and answered in their order (RFC 9112 §9.3.2)', async () => {
    let inFlight = 0;
    let most = 0;
    let count = 0;
    const socket = await open((_, response) => {
      most = Math.max(most, ++inFlight);
      const body = `answer ${String(count++)};`;
      setImmediate(() => {
        inFlight--;
        response.end(body);
      });
    });
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write(REQUEST.repeat(20));
    while (!text.includes('answer 19;')) await once(socket, 'data');
    expect([...text.matchAll(/answer (\d+);/g)].map(([, number]) => Number(number))).toEqual([...Array(20).keys()]);
    expect(most).toBe(1);
  });

  it('are not begun while the responses before them are not read', async () => {
    const body = Buffer.alloc(4 * 1024 * 1024);
    let begun = 0;
    const socket = await open((request, response) => {
      if (request.url === '/last') response.end();
      else {
        begun++;
        response.end(body);
      }
    });
    socket.pause().write(REQUEST.repeat(500));
    while (begun === 0) await new Promise(setImmediate);
    const { port } = service as Service;
    await fetch(`http://127.0.0.1:${String(port)}/last`);
    expect(begun).toBeLessThan(3);
  });

  it('end the connection when too many of them wait', async () => {
    let begun = 0;
    const socket = await open(() => begun++);
    socket.resume().write(REQUEST.repeat(500));
    await once(socket, 'close');
    expect(begun).toBe(1);
  });

  it('are begun in turns of the event loop of their own, so that those of other connections come between them', async () => {
    let turn = 0;
    let isOver = false;
    const count = () => {
      turn++;
      if (!isOver) setImmediate(count);
    };
    const turns: number[] = [];
    const socket = await open((_, response) => {
      turns.push(turn);
      response.end('done');
    });
    setImmediate(count);
    socket.resume().write(REQUEST.repeat(30));
    while (turns.length < 30) await new Promise(setImmediate);
    isOver = true;
    expect(new Set(turns).size).toBe(30);
  });

  it('are not begun after a response with Connection: close, also while TLS ends (RFC 9112 §9.6)', async () => {
    const begun: unknown[] = [];
    const tls = await createSelfSigned();
    const probes = createProbes({ isReady: () => true });
    service = await startService({
      ...{ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1', probes, tls },
      handle: ({ method }, response) => {
        begun.push(method);
        setImmediate(() => response.writeHead(200, { connection: 'close', 'content-length': 0 }).end());
      },
    });
    socket = connectTls({ port: service.port, host: '127.0.0.1', rejectUnauthorized: false }).on('error', () => undefined);
    await once(socket, 'secureConnect');
    socket.resume().write(REQUEST.replace('GET', 'HEAD') + REQUEST.repeat(20));
    await once(socket, 'close');
    expect(begun).toEqual(['HEAD']);
  });
});
