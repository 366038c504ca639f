/** With a gateway of the test. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { createGatewayClient } from './gateway-client.ts';

it('learns that a gateway does not respond long before the time limit of requests, when it asks whether the gateway is ready', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/graphql`;
  const client = createGatewayClient({ url, timeoutMs: 60_000 });
  const began = performance.now();
  await expect(client.isReady()).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
  expect(performance.now() - began).toBeLessThan(30_000);
  await client.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
