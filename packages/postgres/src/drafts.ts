/** Folders that are being made: each is named after the process that makes it, so that those of killed processes can be told and removed. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Earlier releases did not name the process; a draft of theirs is given up after this time without a change. */
const UNNAMED_MAX_AGE_MS = 60 * 60 * 1000;

/** Creates an empty folder beside `target`, hidden and readable by this user only. Removes first what killed processes left there. */
export async function createDraft(target: string): Promise<string> {
  await removeAbandonedDrafts(target);
  return mkdtemp(`${toPrefix(target)}${String(process.pid)}.`);
}

/** Removes the drafts of `target` whose process has ended; those of processes that run are left alone. Never throws. */
export async function removeAbandonedDrafts(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = basename(toPrefix(target));
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const path = join(folder, name);
    // A folder that can't be removed takes room, but does no harm.
    if (await isAbandoned(path, name.slice(prefix.length))) await rm(path, { recursive: true, force: true }).catch(() => undefined);
  }
}

function toPrefix(target: string): string {
  return join(dirname(target), `.${basename(target)}.`);
}

/** `rest` is what follows the prefix: `<pid>.<six random characters>`, or the six alone. */
async function isAbandoned(path: string, rest: string): Promise<boolean> {
  const [, pid] = /^(?:(\d+)\.)?\w{6}$/.exec(rest) ?? [undefined, undefined];
  if (pid !== undefined) return !isRunning(Number(pid));
  if (!/^\w{6}$/.test(rest)) return false;
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > UNNAMED_MAX_AGE_MS;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: it runs, as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
