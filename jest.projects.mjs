/** Sorts the tests beside the code into those that need the database, a process or a thread, those of the fuzzer, and the others. */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

const FOLDERS = ['schema', 'packages', 'subgraphs', 'gateway', 'registry', 'rest-bridge', 'local'];
const SKIPPED = new Set(['node_modules', 'dist', 'generated']);
/** The variable that names the database server of a test run, and the modules that start processes and threads. */
const NEEDS = /TEST_PG_URL|'node:child_process'|'node:worker_threads'|'@trestle\/postgres\/embedded'/;
/** What is imported for its types alone does not run. */
const IMPORTS = /^(?:import|export) (?!type )[^;]*?from '(\.[^']+)'/gm;

/** Returns the patterns of the tests beside the code: of the projects `unit` and `postgres`, and of the fuzzer, for Jest's `testMatch`. */
export function sortTests(root) {
  const needsSystem = createNeedsSystem();
  const files = FOLDERS.flatMap((folder) => findTests(join(root, folder)));
  const kindOf = (file) => (file.split(sep).includes('fuzz') ? 'fuzz' : needsSystem(file) ? 'postgres' : 'unit');
  const toPattern = (file) => `<rootDir>/${relative(root, file).split(sep).join('/')}`;
  const ofKind = (kind) => files.filter((file) => kindOf(file) === kind).map(toPattern);
  return { unit: ofKind('unit'), postgres: ofKind('postgres'), fuzz: ofKind('fuzz') };
}

function findTests(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return SKIPPED.has(entry.name) ? [] : findTests(path);
    return entry.name.endsWith('.test.ts') ? [path] : [];
  });
}

/** Returns a function that says whether a file, or a file that it imports by a relative path, names one of NEEDS. Reads each file once. */
function createNeedsSystem() {
  const known = new Map();
  return function needsSystem(file) {
    if (known.has(file)) return known.get(file);
    // Ends cycles of imports.
    known.set(file, false);
    const source = existsSync(file) ? readFileSync(file, 'utf8') : '';
    const imported = Array.from(source.matchAll(IMPORTS), ([, path]) => resolve(dirname(file), path));
    const isNeeded = NEEDS.test(source) || imported.some(needsSystem);
    known.set(file, isNeeded);
    return isNeeded;
  };
}
