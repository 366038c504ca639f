/** Sends one GraphQL request repeatedly over kept-alive connections, and reports the latencies and the number of wrong responses. */
import { Pool } from 'undici';

process.on('message', async ({ url, headers, body, requests, connections, expected, allowH2 = false, isDistinct = false }) => {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections, pipelining: 1, allowH2 });
  const latencies = new Float64Array(requests);
  let next = 0;
  let wrong = 0;
  let last = '';
  const work = async () => {
    while (next < requests) {
      const i = next++;
      const started = performance.now();
      const { body: answer } = await pool.request({
        method: 'POST',
        path: pathname,
        headers: isDistinct ? { ...headers, authorization: `Bearer ${i}` } : headers,
        body,
      });
      const bytes = Buffer.from(await answer.arrayBuffer());
      latencies[i] = performance.now() - started;
      if (expected !== undefined && Math.abs(bytes.length - expected) > 64) wrong++;
      if (i === requests - 1) last = bytes.toString();
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: connections }, work));
  const milliseconds = performance.now() - started;
  await pool.close();
  latencies.sort();
  const at = (share) => latencies[Math.min(requests - 1, Math.floor(requests * share))];
  process.send({ milliseconds, wrong, last, p50: at(0.5), p99: at(0.99) });
});
