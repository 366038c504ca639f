/** Sends a given number of requests for one URL over kept-alive connections, and reports the duration and the number of wrong statuses. */
import { Pool } from 'undici';

const CONNECTIONS = 32;

process.on('message', async ({ url, headers, requests, expected }) => {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, { connections: CONNECTIONS, pipelining: 1 });
  let left = requests;
  let wrong = 0;
  const work = async () => {
    while (left-- > 0) {
      const { statusCode, body } = await pool.request({ method: 'GET', path: pathname, headers });
      await body.dump();
      if (statusCode !== expected) wrong++;
    }
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  const milliseconds = performance.now() - started;
  await pool.close();
  process.send({ milliseconds, wrong });
});
