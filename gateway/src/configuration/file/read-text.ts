/** Reads the text of a configuration file. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { extname } from 'node:path';

const MAX_BYTES = 256 * 1024;

/** Returns the text of the file. Rejects for a file that cannot be read, and for one of more than 256 KB. */
export async function readText(file: string): Promise<string> {
  // To open a named pipe would wait for its writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error('is not a file');
    const buffer = Buffer.alloc(MAX_BYTES + 1);
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
    if (bytesRead > MAX_BYTES) throw new Error(`exceeds the limit of ${String(MAX_BYTES)} bytes`);
    return new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead));
  } finally {
    await handle.close();
  }
}

/** Returns whether a file is a module of JavaScript or TypeScript, which is executed. */
export function isModule(file: string): boolean {
  return MODULES.has(extname(file));
}

const MODULES: ReadonlySet<string> = new Set(['.js', '.mjs', '.ts', '.mts']);
