/** Deletes files that no row names: what a killed process, a failed write or a deleted row has left. */
import type { FileStore } from './file-store.ts';

/** What is swept. */
export interface SweepOptions {
  readonly files: FileStore;
  /** Only files whose keys start with it. */
  readonly prefix: string;
  /** Returns those of the keys that rows name. It is called with at most 500 keys. */
  readonly findUsed: (keys: readonly string[]) => Promise<ReadonlySet<string>>;
  /** Files that became visible later are kept: a row that names them may not be committed yet. */
  readonly before: Date;
}

const BATCH = 500;

/** Deletes the files. Resolves with their number. A file whose row is deleted meanwhile is left to the next sweep. */
export async function sweepFiles({ files, prefix, findUsed, before }: SweepOptions): Promise<number> {
  await files.removeUnfinished(before);
  let deleted = 0;
  let keys: string[] = [];
  const sweep = async () => {
    const used = await findUsed(keys);
    for (const key of keys) {
      if (used.has(key)) continue;
      await files.delete(key);
      deleted++;
    }
    keys = [];
  };
  for await (const { key, modifiedAt } of files.list(prefix)) {
    if (modifiedAt >= before) continue;
    keys.push(key);
    if (keys.length === BATCH) await sweep();
  }
  if (keys.length > 0) await sweep();
  return deleted;
}
