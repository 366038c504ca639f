/** A copy of the repository for `npm run dev`, in which sources may be edited. */
import { existsSync } from 'node:fs';
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
  ...['subgraphs/users', 'subgraphs/orders', 'subgraphs/content'],
];
/** What `tsc -b` checks after a change. No test reads what it prints, and it would check all projects after each change of a schema. */
const CHECKED = ['schema'];
/** Installed packages are linked, and `npm run dev` runs no bundles. */
const SKIPPED = new Set(['node_modules', 'bundle']);

/**
 * Copies what `npm run dev` runs to the folder `root`, as it was built. Packages of ours that a process imports are those of the repository: only
 * what is in the folder of a process may be edited.
 */
export async function copyRepository(root: string): Promise<void> {
  const filter = (source: string) => !SKIPPED.has(basename(source));
  // `tsc -b` builds again what is older than its sources.
  const options = { recursive: true, preserveTimestamps: true, filter };
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), options);
  for (const folder of WITH_MODULES) {
    const installed = join(ROOT, folder, 'node_modules');
    if (existsSync(installed)) await symlink(installed, join(root, folder, 'node_modules'));
  }
  const references = CHECKED.map((path) => ({ path }));
  await writeFile(join(root, 'tsconfig.json'), JSON.stringify({ files: [], references }));
}
