/** Computes which processes run the code of which packages, from the manifests. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';

/** The package of each process, by the name of the process. */
const PROCESSES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(SUBGRAPH_NAMES.map((name) => [name, `subgraphs/${name}`])),
  gateway: 'gateway',
  registry: 'registry',
  'rest-bridge': 'rest-bridge',
};

/** The folder of a package of ours, by the name of the package. */
function toFolder(name: string): string {
  const noun = name.replace('@trestle/', '');
  if (noun === 'chassis') return 'subgraphs/chassis';
  return noun === 'schema' ? noun : `packages/${noun}`;
}

/** Returns a map from the folder of each package to the processes that import it, directly or by other packages. */
export function readDependents(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const dependents = new Map<string, Set<string>>();
  for (const [process, folder] of Object.entries(PROCESSES)) {
    const found = new Set<string>();
    collect(folder, root, found);
    for (const each of found) dependents.set(each, (dependents.get(each) ?? new Set()).add(process));
  }
  return dependents;
}

function collect(folder: string, root: string, found: Set<string>): void {
  if (found.has(folder)) return;
  found.add(folder);
  const { dependencies = {} } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  for (const name of Object.keys(dependencies)) if (name.startsWith('@trestle/')) collect(toFolder(name), root, found);
}
