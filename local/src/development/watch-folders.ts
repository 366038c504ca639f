/** Watches folders with all that is below them. */
import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** Folders of generated and installed files. */
const SKIPPED = new Set(['node_modules', 'dist', 'generated']);

/**
 * Calls `onChange` with the path of every file that is created, changed or removed in one of the folders or below. A change may be reported
 * more than once. Each folder has a watcher of its own, because those of single files get lost when an editor replaces the file. Returns a
 * function that ends it.
 */
export function watchFolders(folders: readonly string[], onChange: (path: string) => void): () => void {
  const watchers = new Map<string, FSWatcher>();
  const forget = (folder: string) => {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  };
  const add = (folder: string): boolean => {
    if (watchers.has(folder)) return true;
    const entries = readFolder(folder);
    if (entries === undefined) return false;
    const watcher = watch(folder, (_, name) => {
      if (name === null || SKIPPED.has(name)) return;
      const path = join(folder, name);
      if (!add(path)) onChange(path);
    });
    // A folder that is removed.
    watcher.on('error', () => {
      forget(folder);
    });
    watchers.set(folder, watcher);
    for (const { name, isFolder } of entries) if (isFolder && !SKIPPED.has(name)) add(join(folder, name));
    return true;
  };
  for (const folder of folders) add(folder);
  return () => {
    for (const folder of [...watchers.keys()]) forget(folder);
  };
}

/** Returns undefined for what is no folder, or has been removed. */
function readFolder(path: string): { name: string; isFolder: boolean }[] | undefined {
  try {
    return readdirSync(path, { withFileTypes: true }).map((entry) => ({ name: entry.name, isFolder: entry.isDirectory() }));
  } catch {
    return undefined;
  }
}
