/**
 * Writes the package @trestle/gateway into `dist/package`, ready for `npm pack` (docs/adr/0017). The packages of this repository become part of it;
 * and so does the SDK of MCP, of which little is used and which would bring 104 packages
 * for one chunk; all others are its dependencies, in the versions that the repository uses.
 */
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const gateway = fileURLToPath(new URL('.', import.meta.url));
const root = join(gateway, '..');
const target = join(gateway, 'dist/package');
/** Keys of the manifest that make sense in the repository only. */
const OF_THE_WORKSPACE = new Set(['private', 'imports', 'devDependencies']);

/** A package that becomes part of this one, with those that it imports. */
const BUNDLED = '@modelcontextprotocol/sdk';

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const { metafile } = await build({
  absWorkingDir: gateway,
  entryPoints: ['dist/main.js', 'dist/plan/threads/planner-worker.js', 'dist/extensions/extension.js'],
  outbase: 'dist',
  outdir: join(target, 'dist'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Beside main.js, so that package-files.ts finds the package from every chunk.
  chunkNames: '[name]-[hash]',
  // Only the packages of this repository are bundled, and what it takes to speak MCP.
  plugins: [{ name: 'external-packages', setup: markExternal }],
  metafile: true,
  logLevel: 'warning',
});
for (const [from, to] of Object.entries({
  'dist/graphiql': 'dist/graphiql',
  'dist/extensions/extension.d.ts': 'dist/extensions/extension.d.ts',
  bin: 'bin',
  '../packages/service/node.env': 'node.env',
  'README.md': 'README.md',
  '../.env.example': '.env.example',
  'trestle.schema.json': 'trestle.schema.json',
  '../LICENSE': 'LICENSE',
}))
  cpSync(join(gateway, from), join(target, to), { recursive: true, dereference: true });
writeFileSync(join(target, 'THIRD-PARTY-LICENSES'), collectLicenses());
writeFileSync(join(target, 'package.json'), `${JSON.stringify(createManifest(), null, 2)}\n`);

function markExternal({ onResolve, onLoad }) {
  const listed = new Set(Object.keys(listVersions()));
  onResolve({ filter: /^[^.#/]/ }, ({ path, kind, importer }) => {
    const isOfBundled = importer.includes('/node_modules/') && !listed.has(toPackageName(path));
    const isBundled = path.startsWith('@trestle/') || path.startsWith(`${BUNDLED}/`) || isOfBundled;
    return kind === 'entry-point' || isBundled ? undefined : { path, external: true };
  });
  // The validator of the SDK, which the gateway does not use, brings Ajv.
  onLoad({ filter: /sdk[\\/].*[\\/]ajv-provider\.js$/ }, () => ({ contents: 'export class AjvJsonSchemaValidator {}' }));
}

/** Returns the manifest of the package: that of the gateway, with the dependencies that the bundle imports. */
function createManifest() {
  const own = Object.entries(readManifest(gateway)).filter(([key]) => !OF_THE_WORKSPACE.has(key));
  return { ...Object.fromEntries(own), dependencies: findDependencies() };
}

/** Returns the licenses of the packages that are part of this one, which demand it. */
function collectLicenses() {
  const folders = Object.keys(metafile.inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
  const texts = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = readManifest(join(gateway, folder));
    const file = readdirSync(join(gateway, folder)).find((each) => /^license/i.test(each)) ?? missingLicense(name);
    return `${name} ${version}\n\n${readFileSync(join(gateway, folder, file), 'utf8').trim()}\n`;
  });
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

function findDependencies() {
  const versions = listVersions();
  const imported = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  const names = new Set(imported.filter((path) => !path.startsWith('node:')).map(toPackageName));
  return Object.fromEntries([...names].sort().map((name) => [name, versions[name] ?? missing(name)]));
}

/** Returns the versions of all packages that are dependencies of the gateway, or of what is bundled with it. */
function listVersions() {
  const workspaces = [gateway, join(root, 'schema'), ...readdirSync(join(root, 'packages')).map((name) => join(root, 'packages', name))];
  return Object.assign({}, ...workspaces.map((folder) => readManifest(folder).dependencies));
}

function toPackageName(path) {
  return path
    .split('/')
    .slice(0, path.startsWith('@') ? 2 : 1)
    .join('/');
}

function missing(name) {
  throw new Error(`The gateway imports ${name}, which no package.json of the repository lists as a dependency.`);
}

function missingLicense(name) {
  throw new Error(`${name} has no license file, and must not become part of the package.`);
}

function readManifest(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
}
