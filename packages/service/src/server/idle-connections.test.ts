import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { startService } from '../service.ts';
import { createSelfSigned } from '../testing/test-authority.ts';

/** More than the kernel holds for a client that does not read. */
const BODY = Buffer.alloc(8 * 1024 * 1024);

it.each([['HTTP'], ['HTTPS']])('a response over %s that was ended before the process stops is sent to a slow client', async (protocol) => {
  const isSecure = protocol === 'HTTPS';
  const service = await startService({
    ...{ log: createLog({ service: 'test', level: 'silent' }), port: 0, host: '127.0.0.1' },
    probes: createProbes({ isReady: () => true }),
    handle: (_, response) => response.end(BODY),
    ...(isSecure && { tls: await createSelfSigned() }),
  });
  const target = { port: service.port, host: '127.0.0.1', rejectUnauthorized: false };
  const socket = isSecure ? connectTls(target) : connect(target);
  let length = 0;
  await once(socket, isSecure ? 'secureConnect' : 'connect');
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  socket.on('error', () => undefined).on('data', (chunk: Buffer) => (length += chunk.length));
  await once(socket, 'data');
  socket.pause();
  const stopped = service.stop();
  // The listener is closed after the idle connections.
  for (;;) {
    const probe = connect(service.port, '127.0.0.1');
    const isOpen = await once(probe, 'connect').then(
      () => true,
      () => false,
    );
    probe.destroy();
    if (!isOpen) break;
  }
  socket.resume();
  await once(socket, 'close');
  await stopped;
  expect(length).toBeGreaterThan(BODY.length);
});
