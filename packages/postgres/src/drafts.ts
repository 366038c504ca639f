/** Drafts: folders that are renamed when they are complete. The name contains the process id, so that drafts of killed processes can be removed. */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Drafts of earlier releases have no process id in their name; they are removed after this time without a change. */
const UNNAMED_MAX_AGE_MS = 60 * 60 * 1000;

/** Creates an empty hidden folder beside `target` that only this user can read, and returns its path. First removes drafts of killed processes. */
export async function createDraft(target: string): Promise<string> {
  await removeAbandonedDrafts(target);
  return mkdtemp(`${toPrefix(target)}${String(process.pid)}.`);
}

/** Removes the drafts of `target` whose process has ended. Never throws. */
export async function removeAbandonedDrafts(target: string): Promise<void> {
  const folder = dirname(target);
  const prefix = basename(toPrefix(target));
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(prefix))) {
    const path = join(folder, name);
    // A folder that cannot be removed uses disk space but does no other harm.
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
    // EPERM: the process runs as another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
