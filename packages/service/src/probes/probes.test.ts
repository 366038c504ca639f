import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { type Probes, createProbes } from './probes.ts';

it('names counters, and nothing else, with the ending `_total`', async () => {
  const { metrics } = createProbes({ isReady: () => true });
  const all = (await metrics.getMetricsAsJSON()) as unknown as readonly { readonly name: string; readonly type: string }[];
  expect(all.length).toBeGreaterThan(10);
  expect(all.filter(({ name, type }) => name.endsWith('_total') !== (type === 'counter'))).toEqual([]);
  expect(all.map(({ name }) => name)).toContain('nodejs_active_handles');
});

/** Serves the probes alone, and calls `use` with the address. */
async function serve(probes: Probes, use: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    if (!probes.answer(request, response)) response.writeHead(404).end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await use(`http://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
  server.close();
  server.closeAllConnections();
}

it('answers at further paths as at those of the probes, also while the process stops', async () => {
  const probes = createProbes({ isReady: () => true, paths: { liveness: '/health', readiness: '/health/ready' } });
  await serve(probes, async (url) => {
    const paths = ['/livez', '/health', '/readyz', '/health/ready?full', '/health/'];
    const statuses = () => Promise.all(paths.map(async (path) => (await fetch(`${url}${path}`)).status));
    expect(await statuses()).toEqual([200, 200, 200, 200, 404]);
    probes.leave();
    expect(await statuses()).toEqual([200, 200, 503, 503, 404]);
  });
});

it('echoes X-Request-ID, and says when to ask again while the process is not ready', async () => {
  const id = '3f2b7a80-52b4-4f0e-9d7b-0c7a4a5b9f11';
  const probes = createProbes({ isReady: () => true });
  await serve(probes, async (url) => {
    const ask = async (path: string) => {
      const { status, headers } = await fetch(`${url}${path}`, { headers: { 'x-request-id': id } });
      return [status, headers.get('x-request-id'), headers.get('retry-after')];
    };
    for (const path of ['/livez', '/readyz', '/metrics']) expect([path, ...(await ask(path))]).toEqual([path, 200, id, null]);
    probes.leave();
    expect(await ask('/readyz')).toEqual([503, id, '1']);
  });
});

it('answers other methods at the paths of the probes with those that are allowed', async () => {
  await serve(createProbes({ isReady: () => true }), async (url) => {
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const refused = await fetch(`${url}${path}`, { method: 'POST', body: '{}' });
      expect([path, refused.status, refused.headers.get('allow')]).toEqual([path, 405, 'GET, HEAD, OPTIONS']);
      expect(await refused.json()).toMatchObject({
        error: { code: 'METHOD_NOT_ALLOWED', requestId: refused.headers.get('x-request-id') },
      });
      const asked = await fetch(`${url}${path}`, { method: 'OPTIONS' });
      expect([asked.status, asked.headers.get('allow'), await asked.text()]).toEqual([200, 'GET, HEAD, OPTIONS', '']);
    }
    const preflight = { method: 'OPTIONS', headers: { origin: 'https://app.example', 'access-control-request-method': 'GET' } };
    expect((await fetch(`${url}/livez`, preflight)).status).toBe(404);
  });
});
