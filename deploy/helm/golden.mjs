/**
 * Renders the chart with each file of values in `examples/`, and with none, into `golden/`, so that a change of the chart shows what it changes.
 * Uses Helm, or where it is not installed Go with Debian's packages of the same template library (render/main.go). Run: `npm run chart:golden`.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';

const here = import.meta.dirname;
const chart = join(here, 'trestle');
const RELEASE = 'demo';

/** Returns the golden files as they should be: their name, the values, and the hash of all that they are rendered from. */
export function listGoldenFiles() {
  const examples = readdirSync(join(here, 'examples')).sort();
  const chartFiles = readdirSync(chart, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = chartFiles.map((entry) => join(entry.parentPath, entry.name)).sort();
  return [undefined, ...examples].map((example) => {
    const values = example === undefined ? [] : [join(here, 'examples', example)];
    const hash = createHash('sha256');
    for (const path of [...paths, ...values]) hash.update(`${basename(path)}\n`).update(readFileSync(path));
    const name = example ?? 'defaults.yaml';
    return { name, path: join(here, 'golden', name), values, sources: hash.digest('hex') };
  });
}

/** Returns what the chart renders with the values of each golden file; undefined without Helm and Go. */
export function renderAll(files) {
  if (runs('helm', ['version']))
    return files.map(({ values }) => execFileSync('helm', ['template', RELEASE, chart, ...values.flatMap((path) => ['--values', path])]));
  const env = { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' };
  if (!runs('go', ['list', 'github.com/Masterminds/sprig', 'sigs.k8s.io/yaml'], env)) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'trestle-chart-'));
  try {
    const command = join(folder, 'render');
    execFileSync('go', ['build', '-o', command, '.'], { cwd: join(here, 'render'), env: { ...env, GOCACHE: join(folder, 'cache') } });
    return files.map(({ values }) => execFileSync(command, [RELEASE, chart, ...values]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function runs(command, args, env = process.env) {
  try {
    execFileSync(command, args, { env, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Returns the text of a golden file: the hash of its sources, then the rendered objects sorted by kind and name. */
export function toGoldenText(rendered, sources) {
  const objects = parseAllDocuments(String(rendered), { version: '1.1' }).flatMap((document) => document.toJS() ?? []);
  const keyOf = ({ kind, metadata }) => `${kind}/${metadata.name}`;
  objects.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
  return `# sha256 of the chart and its values: ${sources}\n${objects.map((object) => `---\n${stringify(object, { lineWidth: 0 })}`).join('')}`;
}

if (process.argv[1] === import.meta.filename) {
  const files = listGoldenFiles();
  const rendered = renderAll(files);
  if (!rendered) throw new Error('Install Helm, or Debian’s golang-go, golang-github-masterminds-sprig-dev and golang-k8s-sigs-yaml-dev.');
  for (const [i, { path, sources }] of files.entries()) writeFileSync(path, toGoldenText(rendered[i], sources));
}
