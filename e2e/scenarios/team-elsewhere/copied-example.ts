/** A copy of an example outside the checkout, as the repository of a team elsewhere: nothing of this repository is beside it. */
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const EXAMPLES = join(ROOT, 'examples');

interface Manifest {
  readonly version: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/** A copied example. */
export interface CopiedExample {
  readonly folder: string;
  readonly remove: () => Promise<void>;
}

/**
 * Copies the folder of an example into the temporary folder. Its dependencies are links to those of the checkout: the test needs no registry of
 * packages. Throws when the checkout has another version of one than the example demands.
 */
export async function copyExample(name: string): Promise<CopiedExample> {
  const home = await mkdtemp(join(tmpdir(), `trestle-${name}-`));
  const folder = join(home, name);
  await cp(join(EXAMPLES, name), folder, { recursive: true, filter: (path) => basename(path) !== 'node_modules' });
  const file = join(folder, 'package.json');
  const manifest: Partial<Manifest> = existsSync(file) ? await readManifest(file) : {};
  for (const [dependency, version] of Object.entries(manifest.dependencies ?? {})) {
    const [place, link] = [findPackage(dependency), join(folder, 'node_modules', dependency)];
    const installed = (await readManifest(join(place, 'package.json'))).version;
    if (installed !== version) throw new Error(`examples/${name} has ${dependency} ${version}, the checkout ${installed}: use the same.`);
    await mkdir(dirname(link), { recursive: true });
    await symlink(place, link);
  }
  return { folder, remove: () => rm(home, { recursive: true, force: true }) };
}

/** npm puts a package below e2e/ when other workspaces need another version. */
function findPackage(name: string): string {
  const places = ['e2e/node_modules', 'node_modules'].map((modules) => join(ROOT, modules, name));
  return places.find((place) => existsSync(place)) ?? name;
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(path, 'utf8')) as Manifest;
}
