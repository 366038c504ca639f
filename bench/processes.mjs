/** Starts, pins and measures the processes of a benchmark. */
import { execFileSync, fork, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** What is measured has one core, everything else the other. */
export const MEASURED = 0;
export const OTHER = 1;

export function createProcesses() {
  const children = [];
  const keep = (child, core) => {
    children.push(child);
    pin(child.pid, core);
    return child;
  };
  return {
    /** Resolves with the first message of a module, and the child that it is. */
    fork: (path, { env = {}, core = OTHER } = {}) =>
      new Promise((resolve, reject) => {
        const child = keep(
          fork(path, { env: { PATH: process.env.PATH, ...env }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
          core,
        );
        child.once('exit', (code) => reject(new Error(`${path} ended with ${code}`)));
        child.once('message', (message) => resolve({ child, pid: child.pid, ...message }));
      }),
    /** Resolves with the port of a command that logs as Trestle's processes do. */
    spawn: (command, { args = [], env = {}, core = MEASURED } = {}) =>
      new Promise((resolve, reject) => {
        const child = keep(spawn(command, args, { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'pipe', 'inherit'] }), core);
        child.once('exit', (code) => reject(new Error(`${command} ended with ${code}`)));
        let output = '';
        child.stdout.on('data', (chunk) => {
          if (output === undefined) return;
          output += chunk.toString();
          const port = /"port":(\d+),[^\n]*"msg":"listening"/.exec(output)?.[1];
          if (port === undefined) return;
          output = undefined;
          resolve({ child, pid: child.pid, port: Number(port) });
        });
      }),
    endAll() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

function pin(pid, core) {
  execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

/** User and system time of a process so far. */
export async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

export async function residentKilobytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** Asks a forked module for one thing. */
export function ask(child, message) {
  return new Promise((resolve) => {
    child.once('message', resolve);
    child.send(message);
  });
}
