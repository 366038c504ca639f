/** The directory that keeps everything between starts. One supervisor at a time owns it. */
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { type Server, connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { isDiskFull, toDiskFullError } from '@trestle/postgres/disk-full';

export interface DataDirectory {
  readonly path: string;
  readonly postgres: string;
  readonly keys: string;
  readonly logs: string;
  /** Whether the last owner was killed: processes of his may take some seconds to end. */
  readonly wasAbandoned: boolean;
  release(): Promise<void>;
}

/** A socket's path must fit into 108 bytes, 104 on some systems. */
const MAX_SOCKET_PATH = 100;

/** Makes what is missing, takes the directory, and removes the drafts of killed owners. Throws when another supervisor has it. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const places = { path, postgres: join(path, 'postgres'), keys: join(path, 'keys'), logs: join(path, 'logs') };
  // Others may pass through, as the database server's own user must, but see nothing.
  if (await mkdir(path, { recursive: true })) await chmod(path, 0o711);
  for (const place of [places.keys, places.logs]) await mkdir(place, { recursive: true, mode: 0o700 });
  const taken = await take(path);
  for (const folder of [path, places.keys]) await removeDrafts(folder);
  return { ...places, ...taken };
}

const DRAFT = '.draft';

/** Removes what a killed owner had not finished to write. The directory has one owner, so that no draft is in use. */
async function removeDrafts(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(DRAFT));
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}

/** Writes a file that only we may read. It appears whole or not at all. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${String(process.pid)}${DRAFT}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flush: true });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw isDiskFull(error) ? toDiskFullError(path, error) : error;
  }
}

/** Who listens on the directory's socket owns it. Unlike a file with a process id, it can't outlive its owner unnoticed. */
async function take(path: string): Promise<Pick<DataDirectory, 'wasAbandoned' | 'release'>> {
  const address = toSocketAddress(path);
  let wasAbandoned = false;
  for (;;) {
    const server = await listen(address);
    if (server) return { wasAbandoned, release: () => close(server) };
    if (await answers(address)) throw inUse(path);
    await clearAway(address, path);
    wasAbandoned = true;
  }
}

/** Removes a dead owner's socket. If another supervisor did so first, it is his that was moved away: he gets it back. */
async function clearAway(address: string, path: string): Promise<void> {
  const aside = `${address}.old`;
  const moved = await rename(address, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if (await answers(aside)) {
    await rename(aside, address);
    throw inUse(path);
  }
  await rm(aside, { force: true });
}

function inUse(path: string): Error {
  return new Error(`Trestle runs on ${path} already: stop it first, or set DATA_DIR to another directory`);
}

function toSocketAddress(path: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\${path.replaceAll(/[\\/:]/g, '_')}`;
  const absolute = join(path, 'supervisor.sock');
  const shortest = [absolute, relative(process.cwd(), absolute)].find(({ length }) => length <= MAX_SOCKET_PATH);
  if (shortest === undefined) throw new Error(`The path ${path} is too long for a socket: set DATA_DIR to a shorter one`);
  return shortest;
}

/** Gives undefined when the address is in use or was left behind. */
function listen(address: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(address, () => {
      resolve(server);
    });
  });
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
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
