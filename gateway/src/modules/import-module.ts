/** Imports a module of the user's: a configuration, or extensions. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Executes the module `file`, a path from the working directory, and returns its default export. Files that end in `ts` are TypeScript, and so are
 * those that they import. Rejects with what the module throws, or with the fault of its syntax.
 */
export async function importDefault(file: string): Promise<unknown> {
  const path = resolve(file);
  const { default: exported } = (await (path.endsWith('ts') ? importTypeScript(path) : import(pathToFileURL(path).href))) as {
    default?: unknown;
  };
  return exported;
}

/**
 * Node.js removes types itself from 22.18 on, but not all of TypeScript's syntax. With jiti a file means the same on every supported version. It keeps
 * no files: the folder may be read-only.
 */
async function importTypeScript(path: string): Promise<unknown> {
  const { createJiti } = await import('jiti');
  return createJiti(import.meta.url, { fsCache: false, interopDefault: false }).import(path);
}
