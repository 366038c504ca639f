/** A real gateway process, with what Linux knows of its memory and its CPU time. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface GatewayProcess {
  readonly url: string;
  /** Lines of its log that report exceptions. */
  readonly exceptions: string[];
  /** Resident memory in bytes, and CPU time of all threads in milliseconds. */
  vitals(): Vitals;
  /** Executions by path (docs/gateway.md#executors). */
  countPaths(): Promise<Map<string, number>>;
  stop(): Promise<void>;
}

export interface Vitals {
  readonly rssBytes: number;
  readonly cpuMs: number;
}

/** The folder of the gateway. The compiled file is one folder deeper. */
const GATEWAY = fileURLToPath(new URL(import.meta.url.includes('/dist/') ? '../../../' : '../../', import.meta.url));
const KIB = 1024;
/** The unit of CPU times in /proc. */
const TICK_MS = 10;
const MAX_EXCEPTIONS = 20;
const MAX_OUTPUT = 4000;

/** Starts the gateway with a supergraph and resolves when it listens. */
export async function startGatewayProcess(supergraphFile: string, env: Readonly<Record<string, string>>): Promise<GatewayProcess> {
  const args = ['--supergraph', supergraphFile, '--port', '0', '--auth', 'off'];
  // The command is a script of the shell, which finds this `node` by PATH and starts it with the options of every process.
  const PATH = [dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const child = spawn(`${GATEWAY}bin/trestle-gateway.mjs`, args, {
    env: { PATH, DRAIN_DELAY_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exceptions: string[] = [];
  let output = '';
  const note = (line: string) => {
    output = (output + line).slice(-MAX_OUTPUT);
    // Errors of subgraphs are logged with their name.
    if (line.includes('"INTERNAL_ERROR"') && !line.includes('"subgraph"') && exceptions.length < MAX_EXCEPTIONS) exceptions.push(line);
  };
  child.stderr.on('data', (chunk: Buffer) => {
    note(chunk.toString());
  });
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      if (code !== 0 && signal !== 'SIGTERM' && signal !== 'SIGINT')
        exceptions.push(`The gateway ended with ${String(code ?? signal)}: ${output}`);
      resolve();
    });
  });
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      note(line);
      if (line.includes('"msg":"listening"')) resolve((JSON.parse(line) as { port: number }).port);
    });
    child.once('exit', () => {
      reject(new Error(`The gateway did not start: ${output}`));
    });
  });
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    exceptions,
    vitals: () => readVitals(child.pid as number),
    countPaths: () => readPaths(url),
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function readVitals(pid: number): Vitals {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  // The process's name, which is in parentheses, may contain spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return { rssBytes: Number(kib) * KIB, cpuMs: (Number(fields[11]) + Number(fields[12])) * TICK_MS };
}

async function readPaths(url: string): Promise<Map<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, path = '', count] of text.matchAll(/^trestle_executions_total\{[^}]*path="(\w+)"[^}]*\} (\d+)/gm))
    counts.set(path, (counts.get(path) ?? 0) + Number(count));
  return counts;
}
