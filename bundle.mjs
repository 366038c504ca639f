/**
 * Bundles each process into `dist/bundle/`, so that a start reads and compiles a few files instead of a thousand (bench/README.md has the figures).
 * `npm start`, `trestle-gateway`, the image and the tests run `dist/bundle/main.js`; `npm run dev` and debuggers run the modules, `dist/main.js`.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = import.meta.dirname;
const PLANNER = 'dist/plan/threads/planner-worker.js';
const MEDIA = 'dist/publishing/media-worker.js';
const COMPOSER = 'dist/composition/compose-worker.js';
/** The entry points of each package that runs as a process. */
const PROCESSES = {
  ...Object.fromEntries(findSubgraphs().map((folder) => [folder, ['dist/main.js']])),
  'subgraphs/content': ['dist/main.js', MEDIA],
  gateway: ['dist/main.js', PLANNER],
  registry: ['dist/main.js', COMPOSER],
  'rest-bridge': ['dist/main.js'],
};
/** Packages that read files beside their own, or load binaries; and CommonJS packages that are loaded on demand, whose names esbuild loses. */
const EXTERNAL = [
  ...['@node-rs/*', 'dejavu-fonts-ttf', 'oidc-provider', 'pdfkit'],
  // Loaded by graphile-worker's command alone, for configuration files in TypeScript.
  'typescript',
  // Loads its transpiler from a file beside its own.
  'jiti',
  ...['@opentelemetry/resources', '@opentelemetry/sdk-trace-node'],
];

/**
 * Where packages keep their ES modules, which their `main` does not name. A CommonJS module is bundled whole, and each module that imports it copies
 * its exports: 300 of graphql.
 */
const toEsm = (path) => path.replace('/build/src/', '/build/esm/');
/** Packages of AWS load each other on demand. */
const toAwsEsm = (path) => path.replace('/dist-cjs/', '/dist-es/');
const OF_AWS = readdirSync(join(root, 'node_modules/@aws-sdk')).filter((name) =>
  /^credential-provider|^token-providers$|^nested-clients$/.test(name),
);
const ES_MODULES = {
  graphql: (path) => path.replace(/\.js$/, '.mjs'),
  ...Object.fromEntries(['core', 'propagator-b3', 'propagator-jaeger'].map((name) => [`@opentelemetry/${name}`, toEsm])),
  ...Object.fromEntries(OF_AWS.map((name) => [`@aws-sdk/${name}`, toAwsEsm])),
  ...Object.fromEntries(['signature-v4', 'credential-provider-imds'].map((name) => [`@smithy/${name}`, toAwsEsm])),
};

await Promise.all(Object.entries(PROCESSES).map(bundle));

/** The chassis is no process. */
function findSubgraphs() {
  const folders = readdirSync(join(root, 'subgraphs')).map((name) => `subgraphs/${name}`);
  return folders.filter((folder) => existsSync(join(root, folder, 'dist/main.js')));
}

async function bundle([folder, entryPoints]) {
  // Beside the last bundle, which is replaced when this one is whole: a process may start from it meanwhile.
  const outdir = join(root, folder, 'dist/bundle-new');
  await rm(outdir, { recursive: true, force: true });
  await build({
    absWorkingDir: join(root, folder),
    entryPoints,
    outdir,
    // All files in one folder: see keepModuleUrls.
    entryNames: '[name]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    // What is loaded on demand, such as the engine of Apollo, is a file of its own.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Writes constants into the loops over bytes: a bundle has variables in their place, which V8 reads each time.
    minifySyntax: true,
    // Otherwise graphql and others check at each step what only mistakes of a developer need. The modules in `dist` do.
    define: { 'process.env.NODE_ENV': '"production"' },
    logLevel: 'warning',
    external: EXTERNAL,
    // CommonJS packages call require().
    banner: { js: `import { createRequire as toRequire } from 'node:module'; const require = toRequire(import.meta.url);` },
    plugins: [
      { name: 'module-urls', setup: (context) => keepModuleUrls(context, outdir) },
      { name: 'wasm-files', setup: (context) => writeWasmFiles(context, outdir) },
      { name: 'packages-once', setup: bundlePackagesOnce },
    ],
  });
  const bundled = join(root, folder, 'dist/bundle');
  await rm(bundled, { recursive: true, force: true });
  await rename(outdir, bundled);
}

/** Gives the modules of this repository the URL that they have outside of the bundle, because they find other files from it. */
function keepModuleUrls({ onLoad }, outdir) {
  onLoad({ filter: /\.js$/ }, async ({ path }) => {
    if (path.includes('/node_modules/')) return undefined;
    const text = await readFile(path, 'utf8');
    const url = `new URL(${JSON.stringify(relative(outdir, path))}, import.meta.url).href`;
    const bundled = [PLANNER, MEDIA, COMPOSER].reduce((all, worker) => all.replaceAll(worker, `dist/bundle/${basename(worker)}`), text);
    return { contents: bundled.replaceAll('import.meta.url', url) };
  });
}

/** Writes the WebAssembly that Prisma has as base64 into a file: 4.6 MB of text take 60 ms more to load. What decodes base64 copies bytes as they are. */
function writeWasmFiles({ onLoad }, outdir) {
  onLoad({ filter: /\.wasm-base64\.mjs$/ }, async ({ path }) => {
    const { wasm } = await import(pathToFileURL(path).href);
    const file = basename(path, '-base64.mjs');
    await mkdir(outdir, { recursive: true });
    await writeFile(join(outdir, file), Buffer.from(wasm, 'base64'));
    const url = `new URL(${JSON.stringify(file)}, import.meta.url)`;
    return { contents: `import { readFileSync } from 'node:fs';\nexport const wasm = readFileSync(${url});` };
  });
}

/** Bundles one of several copies of a package: npm installs the same version in many folders when another version has the place of all. */
function bundlePackagesOnce({ onResolve, resolve }) {
  const files = new Map();
  onResolve({ filter: /^[^./#]/ }, async ({ path, pluginData, ...from }) => {
    if (pluginData === bundlePackagesOnce || from.kind === 'entry-point') return undefined;
    const { importer, namespace, resolveDir, kind } = from;
    const found = await resolve(path, { importer, namespace, resolveDir, kind, pluginData: bundlePackagesOnce });
    const [, folder, file] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\/(.*)$/.exec(found.path) ?? [];
    // What cannot be found is not an error where the package does without it.
    if (found.external || folder === undefined) return undefined;
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const key = `${name}@${version}/${file}`;
    if (!files.has(key)) files.set(key, (ES_MODULES[name] ?? String)(found.path));
    return { ...found, path: files.get(key) };
  });
}
