/** The copy on disk of the last supergraph that was served, for a start while its source is down. */
import { createHash, randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file with one supergraph. */
export interface LastGood {
  /** Returns the supergraph. Rejects with a reason when there is none, when it is damaged, and when it is of another place. */
  read(): Promise<string>;
  /** Replaces the file as a whole. Resolves when the copy would survive a loss of power. */
  write(sdl: string): Promise<void>;
}

export interface LastGoodOptions {
  readonly file: string;
  /** The place that the supergraph comes from. */
  readonly place: string;
  readonly maxBytes: number;
}

/** The first line is a comment of GraphQL, so that other tools can read the file. */
const HEADER = /^# Kept by trestle-gateway\. Do not edit\. sha256 ([0-9a-f]{64})\n/;
const MAX_HEADER_BYTES = 128;

/** Creates the access to the file. It does not touch the file. */
export function createLastGood({ file, place, maxBytes }: LastGoodOptions): LastGood {
  const hash = (sdl: string) => createHash('sha256').update(JSON.stringify(place)).update(sdl).digest('hex');
  return {
    async read() {
      const text = await readBounded(file, maxBytes + MAX_HEADER_BYTES);
      const [header = '', expected] = HEADER.exec(text) ?? [];
      const sdl = text.slice(header.length);
      if (expected !== hash(sdl)) throw new Error(`${file} is damaged, or was kept from another source`);
      return sdl;
    },
    write: (sdl) => replaceFile(file, `# Kept by trestle-gateway. Do not edit. sha256 ${hash(sdl)}\n${sdl}`),
  };
}

async function readBounded(file: string, maxBytes: number): Promise<string> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    throw new Error(code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${String(code)})`);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error(`${file} is not a file`);
    if (stats.size > maxBytes) throw new Error(`${file} exceeds the limit of ${String(maxBytes)} bytes`);
    return await handle.readFile('utf8');
  } finally {
    await handle.close();
  }
}

/** Readers see the old content or the new one, also after a crash. */
async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeDurably(temporary, text);
    await rename(temporary, file);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  const folder = await open(dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writeDurably(file: string, text: string): Promise<void> {
  // A schema may be confidential.
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
