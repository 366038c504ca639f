/**
 * Bundles GraphiQL and its workers into `dist/graphiql`: names with hashes, each file also compressed by Brotli and gzip, and `manifest.json` that names
 * the two files of the page. Files refer to each other relatively, so they work at any path. Does nothing when the bundle is of the same sources and
 * versions.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const here = fileURLToPath(new URL('.', import.meta.url));
const target = join(here, '../dist/graphiql');
const { devDependencies } = JSON.parse(readFileSync(join(here, '../package.json'), 'utf8'));
const sources = ['app.js', 'app.css', 'build.mjs'].map((name) => readFileSync(join(here, name)));
const key = createHash('sha256').update(JSON.stringify(devDependencies)).update(Buffer.concat(sources)).digest('hex');

const WORKERS = {
  editorWorkerService: 'monaco-editor/esm/vs/editor/editor.worker.js',
  json: 'monaco-editor/esm/vs/language/json/json.worker.js',
  graphql: 'monaco-graphql/esm/graphql.worker.js',
};
const SMALL_BYTES = 1024;

if (readKey() !== key) await bundle();

function readKey() {
  const manifest = join(target, 'manifest.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).key : undefined;
}

async function bundle() {
  // Not needed when nothing has changed: an installation without it keeps the bundle that it came with.
  const { build } = await import('esbuild');
  const draft = `${target}.${String(process.pid)}`;
  mkdirSync(draft, { recursive: true });
  const options = {
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir: draft,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    metafile: true,
    legalComments: 'none',
    logLevel: 'error',
    loader: { '.ttf': 'file', '.woff2': 'file' },
    define: { 'process.env.NODE_ENV': '"production"' },
  };
  const require = createRequire(import.meta.url);
  const entryPoints = Object.fromEntries(Object.entries(WORKERS).map(([label, file]) => [label, require.resolve(file)]));
  const workers = await build({ ...options, entryPoints });
  const names = Object.fromEntries(Object.keys(WORKERS).map((label) => [label, findOutput(workers, `${label}-`, '.js')]));
  const define = { ...options.define, WORKERS: JSON.stringify(names) };
  const app = await build({ ...options, entryPoints: [join(here, 'app.js')], splitting: true, define });
  for (const name of readdirSync(draft)) compress(join(draft, name));
  const manifest = { key, script: findOutput(app, 'app-', '.js'), style: findOutput(app, 'app-', '.css') };
  writeFileSync(join(draft, 'manifest.json'), JSON.stringify(manifest));
  rmSync(target, { recursive: true, force: true });
  renameSync(draft, target);
}

function findOutput({ metafile }, start, end) {
  const names = Object.keys(metafile.outputs).map((path) => path.split('/').at(-1));
  const found = names.find((name) => name.startsWith(start) && name.endsWith(end));
  if (!found) throw new Error(`The bundle has no file ${start}*${end}`);
  return found;
}

function compress(path) {
  const bytes = readFileSync(path);
  if (bytes.length < SMALL_BYTES) return;
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}
