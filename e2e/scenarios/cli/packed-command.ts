/** The command trestle, packed and unpacked in an empty folder, run as a process. */
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const execute = promisify(execFile);

/** What a run of the command ended with. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The installed command. */
export interface PackedCommand {
  /** The folder in which it runs. */
  readonly folder: string;
  run(args: readonly string[], env?: Readonly<Record<string, string>>, input?: string): Promise<Outcome>;
  remove(): Promise<void>;
}

/** Packs and unpacks the command as npm does. Third-party packages are links to those of the checkout: the test needs no registry of packages. */
export async function installCommand(): Promise<PackedCommand> {
  const folder = await mkdtemp(join(tmpdir(), 'trestle-cli-'));
  // In a folder of its own: other tests may pack it at the same time.
  const contents = join(folder, 'package');
  await execute(process.execPath, [join(ROOT, 'packages/cli/pack.mjs'), contents]);
  const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await execute('npm', pack, { cwd: contents });
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }];
  const target = join(folder, 'node_modules/@trestle/cli');
  await mkdir(target, { recursive: true });
  await execute('tar', ['-xzf', join(folder, filename), '-C', target, '--strip-components=1']);
  const { dependencies, bin } = JSON.parse(await readFile(join(target, 'package.json'), 'utf8')) as Record<string, Record<string, string>>;
  for (const name of Object.keys(dependencies ?? {})) {
    const link = join(folder, 'node_modules', name);
    await mkdir(dirname(link), { recursive: true });
    await symlink(join(ROOT, 'node_modules', name), link);
  }
  const command = join(target, bin?.['trestle'] ?? '');
  return {
    folder,
    run: (args, env = {}, input = '') =>
      runProcess([command, ...args], { cwd: folder, env: { PATH: process.env['PATH'] ?? '', ...env }, input }),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

function runProcess(args: readonly string[], options: { cwd: string; env: Record<string, string>; input: string }): Promise<Outcome> {
  const { cwd, env, input } = options;
  const child = spawn(process.execPath, args, { cwd, env });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that reads nothing may have ended before: its exit code says what happened.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const toText = (chunks: Buffer[]) => Buffer.concat(chunks).toString('utf8');
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({ code, stdout: toText(stdout), stderr: toText(stderr) });
    });
  });
}
