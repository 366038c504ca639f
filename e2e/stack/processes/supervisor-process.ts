/** `npm start` as a process of its own, on free ports and a directory of its own. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { type Server, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HIGH_RATE_LIMITS, PATIENT, SHORT_LIVED } from './process.ts';
import { SUBGRAPH_NAMES, portSettingOf } from '@trestle/schema/subgraphs';
import { reserveTestPort } from '@trestle/service/testing/test-port';

export const PORT_SETTINGS = ['REST_PORT', 'GATEWAY_PORT', 'REGISTRY_PORT', ...SUBGRAPH_NAMES.map(portSettingOf), 'PG_PORT'] as const;
export type Ports = Readonly<Record<(typeof PORT_SETTINGS)[number], number>>;

/** Chooses a port for each process. */
export async function chooseFreePorts(): Promise<Ports> {
  const ports = await Promise.all(PORT_SETTINGS.map(() => reserveTestPort()));
  return Object.fromEntries(PORT_SETTINGS.map((setting, index) => [setting, ports[index]])) as Ports;
}

/** Returns whether all ports are free. */
export async function areFree(ports: Ports): Promise<boolean> {
  for (const port of Object.values(ports)) {
    try {
      await close(await listen(port));
    } catch {
      return false;
    }
  }
  return true;
}

export interface SupervisorProcess {
  readonly child: ChildProcess;
  /** All that it has printed so far. */
  output(): string;
  /** Resolves when it has printed this since the call before; rejects when it ends before that. */
  says(text: string): Promise<void>;
  /** Resolves with the exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals | null>;
}

export interface SupervisorOptions {
  readonly ports: Ports;
  readonly dataDirectory: string;
  /** Further settings, e.g. TLS_CERT_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** Arguments of `local/dist/main.js`. */
  readonly args?: readonly string[];
  /** The folder of the repository; default: this one. */
  readonly root?: string;
}

export function startSupervisor({ ports, dataDirectory, env = {}, args = [], root = toPath('') }: SupervisorOptions): SupervisorProcess {
  const settings = Object.fromEntries(Object.entries(ports).map(([setting, port]) => [setting, String(port)]));
  const child = spawn(process.execPath, [...SHORT_LIVED, join(root, 'local/dist/main.js'), ...args], {
    env: { PATH: process.env['PATH'], DATA_DIR: dataDirectory, ...HIGH_RATE_LIMITS, ...PATIENT, ...settings, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let read = 0;
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(signal ?? code);
    });
  });
  const says = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const look = () => {
        const found = output.indexOf(text, read);
        if (found < 0) return;
        read = found + text.length;
        child.stdout.off('data', look);
        child.off('close', refuse);
        resolve();
      };
      const refuse = () => {
        reject(new Error(`It ended without saying "${text}":\n${output}`));
      };
      child.stdout.on('data', look);
      child.once('close', refuse);
      look();
    });
  return { child, output: () => output, says, ended };
}

/** Prints the demo accounts of a data directory as `npm run demo:credentials -- --json` does. */
export function readDemoCredentials(dataDirectory: string): unknown {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDirectory };
  return JSON.parse(execFileSync(process.execPath, [toPath('local/dist/demo-credentials.js'), '--json'], { env, encoding: 'utf8' }));
}

/** The process ids of a supervisor's children whose command names `script`. */
export function findChildren(parent: number, script: string): number[] {
  return listProcesses()
    .filter((each) => each.parent === parent && each.command.includes(script))
    .map(({ pid }) => pid);
}

interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Small containers have no `ps`, other systems no `/proc`. */
function listProcesses(): ListedProcess[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n');
    return lines
      .map((line) => line.trim().split(/\s+/))
      .map(([pid, parent, ...args]) => ({ pid: Number(pid), parent: Number(parent), command: args.join(' ') }));
  }
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'utf8'))?.[1]);
      return [{ pid: Number(name), parent, command: readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ') }];
    } catch {
      // It has ended meanwhile.
      return [];
    }
  });
}

/** This file is run as it is by tests, and compiled by the attack suite. */
function toPath(file: string): string {
  return fileURLToPath(new URL(`${import.meta.url.includes('/dist/') ? '../../../../' : '../../../'}${file}`, import.meta.url));
}

function listen(port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
  });
}
