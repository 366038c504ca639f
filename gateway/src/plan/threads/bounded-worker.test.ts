import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { expect, it } from '@jest/globals';
import { startBoundedWorker } from './bounded-worker.ts';

/** Makes objects that survive for a while, then replies with the size of its young generation in MB. */
const CHURN = `
import { getHeapSpaceStatistics } from 'node:v8';
import { parentPort } from 'node:worker_threads';
const kept = [];
for (let n = 0; n < 1_500_000; n++) {
  kept.push({ n, list: [n] });
  if (kept.length > 200_000) kept.length = 0;
}
parentPort.postMessage(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size / 1048576);`;

it('startBoundedWorker bounds the young generation, whatever the process allows its own', async () => {
  setFlagsFromString('--max-semi-space-size=32');
  const worker = startBoundedWorker(new URL(`data:text/javascript,${encodeURIComponent(CHURN)}`), undefined, {
    maxHeapMb: 256,
    youngHeapMb: 16,
  });
  const [youngMb] = (await once(worker, 'message')) as [number];
  await worker.terminate();
  expect(youngMb).toBeLessThanOrEqual(16);
});
