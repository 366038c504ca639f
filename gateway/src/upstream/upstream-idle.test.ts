/** How long connections to subgraphs are kept that carry no request. */
import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { until } from '@trestle/http-client/raw-server';
import { HTTP1_CLIENTS, UpstreamFixture } from './test-upstream.ts';

describe.each(HTTP1_CLIENTS)('traffic.idleTimeoutMs by the client %s', (client) => {
  const fixture = new UpstreamFixture(client);
  afterEach(() => fixture.close());

  /** Resolves, once a connection has been closed by the client, with how long it was idle. */
  const measureIdle = async (idleTimeoutMs: number | undefined, field: string) => {
    let socket: Socket | undefined;
    const url = await fixture.listenRaw((opened) => {
      socket = opened;
      opened.write(`HTTP/1.1 200 OK\r\n${field}Content-Length: 11\r\n\r\n{"data":{}}`);
    });
    await fixture.open(url, { limits: { idleTimeoutMs } }).fetch('{}');
    const startedAt = performance.now();
    await until(() => socket?.destroyed === true);
    return performance.now() - startedAt;
  };

  it.each([
    ['without Keep-Alive', ''],
    ['also when Keep-Alive is longer', 'Keep-Alive: timeout=600\r\n'],
  ])('closes an idle connection after this time, %s', async (_, field) => {
    const idleMs = await measureIdle(300, field);
    expect(idleMs).toBeGreaterThan(250);
    expect(idleMs).toBeLessThan(3000);
  });

  it('closes it before the end of a shorter Keep-Alive', async () => {
    expect(await measureIdle(60_000, 'Keep-Alive: timeout=3\r\n')).toBeLessThan(3000);
  });

  it('keeps it for longer than without the setting', async () => {
    expect(await measureIdle(4600, '')).toBeGreaterThan(4500);
  });
});
