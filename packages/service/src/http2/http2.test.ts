/** The limits of streams. What else clients of HTTP/2 see is in tls.test.ts. */
import { once } from 'node:events';
import { type ClientHttp2Session, connect } from 'node:http2';
import { expect, it } from '@jest/globals';
import { createLog } from '@trestle/log';
import { createProbes } from '../probes/probes.ts';
import { startService } from '../service.ts';
import { createSelfSigned } from '../testing/test-authority.ts';

it('lets an address begin 128 streams at once on its first connection, and 32 on each further one', async () => {
  const tls = await createSelfSigned();
  const service = await startService({
    log: createLog({ service: 'test', level: 'silent' }),
    port: 0,
    host: '127.0.0.1',
    tls,
    probes: createProbes({ isReady: () => true }),
    handle: (_, response) => response.end(),
  });
  const sessions: ClientHttp2Session[] = [];
  const open = async () => {
    const session = connect(`https://localhost:${String(service.port)}`, { ca: tls.cert });
    sessions.push(session);
    await once(session, 'connect');
    // A PING is acknowledged after the settings that were sent before.
    await new Promise((resolve) => session.ping(resolve));
    return session.remoteSettings.maxConcurrentStreams;
  };
  try {
    expect([await open(), await open(), await open()]).toEqual([128, 32, 32]);
  } finally {
    for (const session of sessions) session.destroy();
    await service.stop();
  }
});
