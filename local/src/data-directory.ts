/** The directory that keeps all data between starts. One supervisor at a time owns it. */
import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { type Server, connect, createServer } from 'node:net';
import { join, relative } from 'node:path';
import { isDiskFull, toDiskFullError } from '@trestle/postgres/disk-full';

/** Holds the paths of an opened data directory. */
export interface DataDirectory {
  readonly path: string;
  readonly postgres: string;
  readonly keys: string;
  readonly logs: string;
  /** Whether the last owner was killed. Its processes may take some seconds to end. */
  readonly wasAbandoned: boolean;
  /** Gives up the ownership. */
  release(): Promise<void>;
}

/** The path of a Unix socket is limited to 108 bytes, on some systems to 104. */
const MAX_SOCKET_PATH = 100;

/** Creates missing folders, takes ownership of the directory, and removes drafts of killed owners. Throws when another supervisor owns it. */
export async function openDataDirectory(path: string): Promise<DataDirectory> {
  const folders = { path, postgres: join(path, 'postgres'), keys: join(path, 'keys'), logs: join(path, 'logs') };
  // The user of the database server must be able to enter the directory, but not to list it.
  if (await mkdir(path, { recursive: true })) await chmod(path, 0o711);
  for (const folder of [folders.keys, folders.logs]) await mkdir(folder, { recursive: true, mode: 0o700 });
  const ownership = await takeOwnership(path);
  for (const folder of [path, folders.keys]) await removeDrafts(folder);
  return { ...folders, ...ownership };
}

const DRAFT = '.draft';

/** Removes files that a killed owner has not written completely. The directory has one owner, so no draft is in use. */
async function removeDrafts(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(DRAFT));
  for (const name of names) await rm(join(folder, name), { recursive: true, force: true });
}

/** Writes a file that only its owner can read. The file appears complete or not at all. Throws a DiskFullError when the disk is full. */
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

/** The process that listens on the directory's socket is its owner. Unlike a file with a process id, a listening socket ends with its process. */
async function takeOwnership(path: string): Promise<Pick<DataDirectory, 'wasAbandoned' | 'release'>> {
  const address = toSocketAddress(path);
  let wasAbandoned = false;
  for (;;) {
    const server = await listen(address);
    if (server) return { wasAbandoned, release: () => close(server) };
    if (await isListening(address)) throw inUse(path);
    await removeDeadSocket(address, path);
    wasAbandoned = true;
  }
}

/** Removes the socket of a dead owner. Another supervisor may have replaced it in the meantime: then its socket is put back, and this throws. */
async function removeDeadSocket(address: string, path: string): Promise<void> {
  const aside = `${address}.old`;
  const moved = await rename(address, aside).then(
    () => true,
    () => false,
  );
  if (!moved) return;
  if (await isListening(aside)) {
    await rename(aside, address);
    throw inUse(path);
  }
  await rm(aside, { force: true });
}

function inUse(path: string): Error {
  return new Error(`Another instance of Trestle uses ${path}. Stop it, or set DATA_DIR to another directory.`);
}

function toSocketAddress(path: string): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\${path.replaceAll(/[\\/:]/g, '_')}`;
  const absolute = join(path, 'supervisor.sock');
  const shortest = [absolute, relative(process.cwd(), absolute)].find(({ length }) => length <= MAX_SOCKET_PATH);
  if (shortest === undefined)
    throw new Error(`The path ${path} exceeds the limit of ${String(MAX_SOCKET_PATH)} bytes for a socket. Set DATA_DIR to a shorter path.`);
  return shortest;
}

/** Listens on the address. Resolves with undefined when it is in use or a dead owner has left its socket behind. */
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

/** Resolves with whether a process listens on the address. */
function isListening(address: string): Promise<boolean> {
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
