/** `npm run dev`: watches the sources, transpiles what changes and restarts the processes that run it. */
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { promisify } from 'node:util';
import { SUBGRAPH_NAMES } from '@trestle/schema/subgraphs';
import { createBackgroundCheck } from './background-check.ts';
import { readDependents } from './dependents.ts';
import { transpileFile } from './transpile.ts';
import { watchFolders } from './watch-folders.ts';

/** Configures the development mode. */
export interface DevelopmentOptions {
  /** The folder of the repository. */
  readonly root: string;
  /** Restarts the processes with these names. Resolves when they are ready. */
  readonly restart: (names: readonly string[]) => Promise<void>;
  /** Prints a line on the terminal. */
  readonly say: (line: string) => void;
}

/** Controls the development mode. */
export interface Development {
  /** Stops watching. Resolves when no process of the development mode is left. */
  stop(): Promise<void>;
}

/** An editor writes several files, or one in several steps. */
const SETTLE_MS = 30;
const COMPOSE_TIMEOUT_MS = 60_000;

/** Starts to watch. Changes that arrive while others are applied are applied afterwards, together. */
export function startDevelopment({ root, restart, say }: DevelopmentOptions): Development {
  const dependents = readDependents(root);
  const check = createBackgroundCheck({ root, projects: [...dependents.keys()], say });
  const end = new AbortController();
  let changed = new Set<string>();
  let applying = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const apply = async () => {
    const files = changed;
    changed = new Set();
    if (files.size === 0 || end.signal.aborted) return;
    const startedAt = Date.now();
    const names = await rebuild({ files: [...files], root, dependents, say, signal: end.signal });
    if (names.length > 0) {
      await restart(names);
      const seconds = ((Date.now() - startedAt + SETTLE_MS) / 1000).toFixed(1);
      say(`${names.join(', ')} restarted in ${seconds} s: ${[...files].sort().join(', ')}`);
    }
    check.start([...files].some((file) => file.endsWith('.graphql')));
  };
  const onChange = (path: string) => {
    const file = relative(root, path).split(sep).join('/');
    if (!isSource(file)) return;
    changed.add(file);
    clearTimeout(timer);
    timer = setTimeout(() => {
      applying = applying.then(apply).catch((error: unknown) => {
        if (!end.signal.aborted) say(error instanceof Error ? error.message : String(error));
      });
    }, SETTLE_MS);
  };
  const unwatch = watchFolders(listFolders(root, [...dependents.keys()]), onChange);
  say('Watching the sources …');
  return {
    async stop() {
      end.abort();
      unwatch();
      clearTimeout(timer);
      await Promise.all([applying, check.stop()]);
    },
  };
}

interface Rebuild extends Pick<DevelopmentOptions, 'root' | 'say'> {
  readonly files: readonly string[];
  readonly dependents: ReadonlyMap<string, ReadonlySet<string>>;
  readonly signal: AbortSignal;
}

/** Returns the names of the processes whose code, schema or documents have changed. */
async function rebuild({ files, root, dependents, say, signal }: Rebuild): Promise<string[]> {
  const names = new Set<string>();
  const add = (processes: Iterable<string>) => {
    for (const name of processes) names.add(name);
  };
  const schemas = files.flatMap((file) => SUBGRAPH_NAMES.filter((name) => file === `schema/${name}.graphql`));
  // The gateway loads the new supergraph by itself; a subgraph reads its schema when it starts.
  if (schemas.length > 0 && (await compose({ root, say, signal }))) add(schemas);
  for (const file of files.filter((each) => !each.startsWith('schema/') || each.endsWith('.ts'))) {
    const folder = [...dependents.keys()].find((each) => file.startsWith(`${each}/`)) ?? '';
    if (!file.endsWith('.ts')) {
      add(dependents.get(folder) ?? []);
      continue;
    }
    const { isChanged, problems } = await transpileFile(join(root, file), root);
    for (const problem of problems) say(problem);
    if (isChanged) add(dependents.get(folder) ?? []);
  }
  return [...names];
}

/** Composes the supergraph. Returns false, and prints why, when the schemas do not compose. */
async function compose({ root, say, signal }: Pick<Rebuild, 'root' | 'say' | 'signal'>): Promise<boolean> {
  try {
    await promisify(execFile)(process.execPath, [join(root, 'schema/dist/main.js')], { cwd: root, signal, timeout: COMPOSE_TIMEOUT_MS });
    return true;
  } catch (error) {
    const { stderr, message } = error as { stderr?: string; message: string };
    say((stderr ?? '').trim() || message);
    return false;
  }
}

/** Tests do not run in a process of the system. The composed files and the generated ones follow from others. */
function isSource(file: string): boolean {
  if (/\.test\.ts$|\.d\.ts$/.test(file)) return false;
  if (file.startsWith('schema/') && file.endsWith('.graphql')) return !/^schema\/(?:(?:supergraph|api)\.graphql$|served\/)/.test(file);
  return /\/src\/.*\.(?:ts|graphql)$/.test(file);
}

/** Returns the folders to watch: `src` of every package that a process imports, and that of the schemas. */
function listFolders(root: string, packages: readonly string[]): string[] {
  const folders = packages.filter((each) => readdirSync(join(root, each)).includes('src')).map((each) => join(root, each, 'src'));
  return [...folders, join(root, 'schema')];
}
