/**
 * Writes the package @trestle/cli into `dist/package`, or into the folder that is its argument, ready for `npm pack`: with the packages of
 * this repository in it; all others are its dependencies, in the versions that the repository uses (as gateway/pack.mjs does, docs/adr/0017).
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const cli = fileURLToPath(new URL('.', import.meta.url));
const target = process.argv[2] ?? join(cli, 'dist/package');
/** Keys of the manifest that make sense in the repository only. */
const OF_THE_WORKSPACE = new Set(['private', 'devDependencies', 'dependencies']);

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { metafile } = await build({
  absWorkingDir: cli,
  entryPoints: ['dist/main.js'],
  outdir: join(target, 'dist'),
  bundle: true,
  // What composes is loaded by the commands that need it.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  plugins: [{ name: 'external-packages', setup: markExternal }],
  metafile: true,
  logLevel: 'warning',
});
for (const [from, to] of Object.entries({ bin: 'bin', 'README.md': 'README.md', '../../LICENSE': 'LICENSE' }))
  cpSync(join(cli, from), join(target, to), { recursive: true });
writeFileSync(join(target, 'package.json'), `${JSON.stringify(createManifest(), null, 2)}\n`);

function markExternal({ onResolve }) {
  onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) =>
    kind === 'entry-point' || path.startsWith('@trestle/') ? undefined : { path, external: true },
  );
}

function createManifest() {
  const own = Object.entries(readManifest(cli)).filter(([key]) => !OF_THE_WORKSPACE.has(key));
  const versions = { ...readManifest(join(cli, '../graph-checks')).dependencies, ...readManifest(cli).dependencies };
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const names = [...new Set(imported.filter((path) => !path.startsWith('node:')))].sort();
  return { ...Object.fromEntries(own), dependencies: Object.fromEntries(names.map((name) => [name, versions[name] ?? missing(name)])) };
}

function missing(name) {
  throw new Error(`The command imports ${name}, which neither package.json of it lists as a dependency.`);
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
