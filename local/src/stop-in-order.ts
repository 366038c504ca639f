/** Stops groups of processes, the last to start first, in bounded time. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SupervisedProcess } from './supervised-process.ts';

/** A group that drains slowly holds up the next one only so long. */
const GROUP_PATIENCE_MS = 1500;
/** Whoever is there after this is killed. With PostgreSQL's own patience of 3 s, all is gone within 10 s. */
const PATIENCE_MS = 6000;

/** Resolves when all are gone. */
export async function stopInOrder(groups: readonly (readonly SupervisedProcess[])[]): Promise<void> {
  const killAt = Date.now() + PATIENCE_MS;
  const stopping: Promise<void>[] = [];
  for (const group of groups.toReversed()) {
    const gone = Promise.all(group.map((process) => process.stop())).then(() => undefined);
    stopping.push(gone);
    await within(GROUP_PATIENCE_MS, gone);
  }
  const allGone = Promise.all(stopping).then(() => undefined);
  await within(killAt - Date.now(), allGone);
  for (const process of groups.flat()) process.kill();
  await allGone;
}

async function within(milliseconds: number, task: Promise<void>): Promise<void> {
  const end = new AbortController();
  await Promise.race([task, delay(milliseconds, undefined, { signal: end.signal }).catch(() => undefined)]);
  end.abort();
}
