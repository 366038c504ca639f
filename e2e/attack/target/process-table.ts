/** Processes as Linux shows them in /proc: which one listens on a port, whether it lives, and its resident memory. */
import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

const LISTEN = '0A';
const KIB = 1024;

/** The process that listened on each port when it was last looked for. */
const known = new Map<number, number>();

/** The id of the process that listens on a port; undefined while none does. */
export function findListener(port: number): number | undefined {
  const inodes = new Set(['tcp', 'tcp6'].flatMap((table) => findInodes(table, port)));
  const last = known.get(port);
  // A look at all files of all processes takes long on a machine that runs many.
  if (last !== undefined && hasSocket(last, inodes)) return last;
  const pid = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .find((each) => hasSocket(each, inodes));
  if (pid !== undefined) known.set(port, pid);
  return pid;
}

/** Resident memory in bytes; undefined when there is no such process. */
export function readResidentBytes(pid: number): number | undefined {
  try {
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return kib === undefined ? undefined : Number(kib) * KIB;
  } catch {
    return undefined;
  }
}

function findInodes(table: string, port: number): string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  return readFileSync(`/proc/net/${table}`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter((columns) => columns[1]?.endsWith(`:${hex}`) === true && columns[3] === LISTEN)
    .map((columns) => `socket:[${columns[9] ?? ''}]`);
}

function hasSocket(pid: number, inodes: ReadonlySet<string>): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => inodes.has(readLink(`/proc/${pid}/fd/${fd}`)));
  } catch {
    // It ended meanwhile, or is another user's.
    return false;
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
