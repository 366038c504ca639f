/** A copy of the repository for `npm run dev`, in which sources may be edited. */
import { existsSync, readdirSync } from 'node:fs';
import { cp, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ROOT } from '../../stack/processes/process.ts';

const COPIED = [
  ...['schema', 'packages', 'subgraphs', 'gateway', 'registry', 'rest-bridge', 'local', 'prisma'],
  ...['package.json', 'tsconfig.base.json'],
];
/** npm may install a version that one package alone needs in the folder of that package. */
const WITH_MODULES = [
  ...['', 'schema', 'gateway', 'registry', 'rest-bridge', 'local'],
  ...['packages', 'subgraphs'].flatMap((folder) => readdirSync(join(ROOT, folder)).map((name) => join(folder, name))),
];
/** What is checked after a change: all projects would take the machine's time from the other tests. */
const CHECKED = ['schema', 'rest-bridge'];
/** Installed packages are linked, and `npm run dev` runs no bundles. */
const SKIPPED = new Set(['node_modules', 'bundle']);

/**
 * Copies what `npm run dev` runs to the folder `root`, as it was built. Packages of ours that a process imports are those of the repository: only
 * what is in the folder of a process may be edited.
 */
export async function copyRepository(root: string): Promise<void> {
  const filter = (source: string) => !SKIPPED.has(basename(source));
  // The compiler builds again what is older than its sources.
  const options = { recursive: true, preserveTimestamps: true, filter };
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), options);
  for (const folder of WITH_MODULES) {
    const installed = join(ROOT, folder, 'node_modules');
    if (existsSync(installed)) await symlink(installed, join(root, folder, 'node_modules'));
  }
  const references = CHECKED.map((path) => ({ path }));
  await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ files: [], references }));
}
