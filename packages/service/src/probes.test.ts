import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { createProbes } from './probes.ts';

it('names counters, and nothing else, with the ending `_total`', async () => {
  const { metrics } = createProbes({ isReady: () => true });
  const all = (await metrics.getMetricsAsJSON()) as unknown as readonly { readonly name: string; readonly type: string }[];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
  expect(all.map(({ name }) => name)).toContain('nodejs_active_handles');
});

it('answers at further paths as at those of the probes, also while the process stops', async () => {
  const probes = createProbes({ isReady: () => true, paths: { liveness: '/health', readiness: '/health/ready' } });
  const server = createServer((request, response) => {
    if (!probes.answer(request, response)) response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const statuses = () =>
    Promise.all(
      ['/livez', '/health', '/readyz', '/health/ready?full', '/health/'].map(
        async (path) => (await fetch(`http://127.0.0.1:${String(port)}${path}`)).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200, 200, 200, 404]);
  probes.leave();
  expect(await statuses()).toEqual([200, 200, 503, 503, 404]);
  server.close();
  server.closeAllConnections();
});
