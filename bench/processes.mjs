/** Starts, pins and measures the processes of a benchmark. */
import { execFileSync, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, readdir } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const TICKS_PER_SECOND = Number(execFileSync('getconf', ['CLK_TCK']).toString());

/** Cores: the measured process runs on one, all other processes on the other. */
export const MEASURED = 0;
export const OTHER = 1;

/** Creates a group of child processes, each pinned to a core. */
export function createProcesses() {
  const children = [];
  const keep = (child, core) => {
    children.push(child);
    if (core !== undefined) pin(child.pid, core);
    return child;
  };
  return {
    /** Forks a module. Resolves with its first message, its process id and the child process. */
    fork: (path, { env = {}, core = OTHER } = {}) =>
      new Promise((resolve, reject) => {
        const child = keep(
          fork(path, { env: { PATH: process.env.PATH, ...env }, execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }),
          core,
        );
        child.once('exit', (code) => reject(new Error(`${path} ended with ${code}`)));
        child.once('message', (message) => resolve({ child, pid: child.pid, ...message }));
      }),
    /** Spawns a command that logs like Trestle's processes. Resolves with its port when it listens. */
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
    /** Spawns a command that gets its port as `--port`, and may log nothing. Resolves when the port accepts connections. */
    async spawnAt(command, { args = [], env = {}, core = MEASURED } = {}) {
      const port = await freePort();
      const options = { env: { PATH: process.env.PATH, ...env }, stdio: ['ignore', 'ignore', 'inherit'] };
      const child = keep(spawn(command, [...args, '--port', String(port)], options), core);
      const deadline = Date.now() + 60_000;
      while (!(await accepts(port))) {
        if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${command} does not listen`);
        await pause(50);
      }
      return { child, pid: child.pid, port };
    },
    /** Adds a process that was started elsewhere. Returns it. */
    keep,
    endAll() {
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

function accepts(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
  });
}

/** Pins all threads of a process to a core, or to several, as in `0,1`. */
export function pin(pid, core) {
  execFileSync('taskset', ['-a', '-p', '-c', String(core), String(pid)], { stdio: 'ignore' });
}

/** Returns the ids of the child processes of a process. */
export async function childrenOf(pid) {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((each) => each !== '')
    .map(Number);
}

/** Returns the user and system time of a process, in seconds. */
export async function cpuSeconds(pid) {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1].split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** As `cpuSeconds`, to the nanosecond, of the threads that still run: for a process that ends none in between. */
export async function preciseCpuSeconds(pid) {
  const threads = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')));
  return times.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e9;
}

/** Returns the ids of a process and of all processes below it. */
export async function processTree(pid) {
  const ids = [pid];
  for (const id of ids) {
    const children = await readFile(`/proc/${id}/task/${id}/children`, 'utf8').catch(() => '');
    ids.push(...children.split(' ').filter(Boolean).map(Number));
  }
  return ids;
}

/** Returns the CPU time (seconds) and resident memory (MB) of these processes together. */
export async function usageOf(pids) {
  const seconds = await Promise.all(pids.map(cpuSeconds));
  const kilobytes = await Promise.all(pids.map(residentKilobytes));
  const sum = (values) => values.reduce((total, each) => total + each, 0);
  return { seconds: sum(seconds), megabytes: Math.round(sum(kilobytes) / 1024) };
}

/** Returns the resident memory of a process, in KiB. */
export async function residentKilobytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))[1]);
}

/** Sends a message to a forked module. Resolves with its reply. */
export function ask(child, message) {
  return new Promise((resolve) => {
    child.once('message', resolve);
    child.send(message);
  });
}
