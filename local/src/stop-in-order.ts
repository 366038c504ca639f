/** Stops groups of processes in bounded time, in the reverse of the start order. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SupervisedProcess } from './supervised-process.ts';

/** Time after which the next group is stopped although this one still drains. */
const GROUP_TIMEOUT_MS = 1500;
/** Time after which running processes are killed. PostgreSQL takes at most 3 s more, so that everything ends within 10 s. */
const TOTAL_TIMEOUT_MS = 6000;

/** Stops all processes. Resolves when every process has ended: those that run after `totalTimeoutMs` are killed. */
export async function stopInOrder(
  groups: readonly (readonly SupervisedProcess[])[],
  { totalTimeoutMs = TOTAL_TIMEOUT_MS } = {},
): Promise<void> {
  const killAt = Date.now() + totalTimeoutMs;
  const stopping: Promise<void>[] = [];
  for (const group of groups.toReversed()) {
    const stopped = Promise.all(group.map((process) => process.stop())).then(() => undefined);
    stopping.push(stopped);
    await within(GROUP_TIMEOUT_MS, stopped);
  }
  const allStopped = Promise.all(stopping).then(() => undefined);
  await within(killAt - Date.now(), allStopped);
  for (const process of groups.flat()) process.kill();
  await allStopped;
}

/** Resolves when the task settles, or after the time. */
async function within(milliseconds: number, task: Promise<void>): Promise<void> {
  const end = new AbortController();
  await Promise.race([task, delay(milliseconds, undefined, { signal: end.signal }).catch(() => undefined)]);
  end.abort();
}
