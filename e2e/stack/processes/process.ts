/** One real process of Trestle, started on a port that the system chooses. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Tests send thousands of requests in a minute from one address. A test of the limits sets its own. */
export const HIGH_RATE_LIMITS = {
  RATE_LIMIT_ANONYMOUS_PER_MIN: '1000000',
  RATE_LIMIT_FREE_PER_MIN: '1000000',
  RATE_LIMIT_PRO_PER_MIN: '1000000',
};

/** The bridge must not answer 503 because the machine of the tests is busy: a test that expects a 503 causes it itself. */
export const PATIENT = { MAX_EVENT_LOOP_DELAY_MS: '60000' };

export interface RunningProcess {
  readonly url: string;
  readonly port: number;
  readonly pid: number | undefined;
  /** The last lines that it wrote. */
  readonly lines: readonly string[];
  /** Ends the process with the signal and resolves when it is gone. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

/** Test files run this file as it is; the pool of stacks, benchmarks and attacks run it compiled. */
const IS_COMPILED = import.meta.url.includes('/dist/');
/** The checkout, with a slash at its end. */
export const ROOT = fileURLToPath(new URL(IS_COMPILED ? '../../../../' : '../../../', import.meta.url));

/** Whether Jest runs, which sets this variable. Benchmarks and attacks measure what is deployed. */
const IS_TEST = process.env['NODE_ENV'] === 'test';

/** In tests a gateway overwrites the memory of a request when it is released. */
export const MEMORY_CHECKS: Readonly<Record<string, string>> = IS_TEST ? { OVERWRITE_MEMORY: 'on' } : {};

/** The V8 of Node.js 22 and later does not have this option. */
const BUDGET = process.versions.node.startsWith('20.') ? ['--interrupt-budget=500000'] : [];

/**
 * Options of V8 for processes of tests, which live for seconds: less code is compiled to machine code that seldom runs long enough to be worth it.
 * That compilation was a fifth of the CPU time of scenarios, half of it for Prisma's query compiler, which is WebAssembly.
 */
export const SHORT_LIVED: readonly string[] = IS_TEST ? ['--liftoff-only', ...BUDGET] : [];

/** Has a process collect its garbage again and again, so that what its heap holds is what is in use. */
export const COLLECT_GARBAGE = ['--expose-gc', '--import', 'data:text/javascript,setInterval(gc,300).unref()'];

const MAX_LINES = 2000;

/** Starts `<room>/dist/bundle/main.js` and resolves when it listens. Rejects with what it wrote when it ends before. */
export async function startProcess(
  room: string,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<RunningProcess> {
  const entry = `${ROOT}${room}/dist/bundle/main.js`;
  const child = spawn(process.execPath, [...SHORT_LIVED, ...nodeOptions, entry], {
    env: {
      PATH: process.env['PATH'] ?? '',
      LOG_LEVEL: 'info',
      HOST: '127.0.0.1',
      DRAIN_DELAY_MS: '0',
      ...HIGH_RATE_LIMITS,
      ...MEMORY_CHECKS,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  return toRunningProcess(child, room);
}

/** Resolves when the process says on which port it listens. */
export async function toRunningProcess(child: ChildProcess, room: string): Promise<RunningProcess> {
  const lines: string[] = [];
  const port = await readPort(child, { room, lines });
  return { url: `http://127.0.0.1:${String(port)}`, port, pid: child.pid, lines, end: (signal) => end(child, signal) };
}

function readPort(child: ChildProcess, { room, lines }: { room: string; lines: string[] }): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = '';
    const { stdout, stderr } = child;
    if (!stdout || !stderr) throw new Error('The process has no output');
    stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
    createInterface({ input: stdout }).on('line', (line) => {
      output = (output + line).slice(-4000);
      lines.push(line);
      if (lines.length > MAX_LINES) lines.shift();
      if (!line.includes('"msg":"listening"')) return;
      resolve((JSON.parse(line) as { port: number }).port);
    });
    child.once('exit', (code) => {
      reject(new Error(`${room} ended with ${String(code)}: ${output}`));
    });
  });
}

function end(child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => {
      resolve();
    });
    child.kill(signal);
  });
}
