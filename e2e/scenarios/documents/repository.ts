/** Lists and reads the files of this repository, without what is generated or installed. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

const LEFT_OUT = new Set(['.git', '.trestle', 'coverage', 'dist', 'generated', 'node_modules', 'secrets']);

/** Returns the paths of all files below `directory`, relative to the root. */
export function listFiles(directory = ''): string[] {
  return readdirSync(join(ROOT, directory), { withFileTypes: true }).flatMap((entry) => {
    const path = directory === '' ? entry.name : `${directory}/${entry.name}`;
    if (LEFT_OUT.has(entry.name)) return [];
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

export function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** Returns every directory that one of the files is in. */
export function listDirectories(files: readonly string[]): Set<string> {
  const directories = new Set<string>();
  for (const file of files) {
    for (let end = file.lastIndexOf('/'); end > 0; end = file.lastIndexOf('/', end - 1)) directories.add(file.slice(0, end));
  }
  return directories;
}
