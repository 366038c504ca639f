/** `trestle-gateway init`: writes a configuration file with every setting, nearly all as comments. */
import { copyFile, link, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DEFAULT_FILES } from '../configuration/load-configuration.ts';
import type { SectionNode } from '../configuration/entries/setting-tree.ts';
import { writeTemplate } from '../configuration/generate/template.ts';

const SCHEMA = 'trestle.schema.json';
/** Where npm installs the schema. */
const INSTALLED = `node_modules/@trestle/gateway/${SCHEMA}`;

export interface InitOptions {
  /** The file to write; undefined for the default one, in the current folder. */
  readonly file: string | undefined;
  readonly tree: SectionNode;
  /** The schema of this package. */
  readonly schema: URL;
  readonly print: (line: string) => void;
  readonly printFault: (line: string) => void;
}

/**
 * Writes the file, and beside it the schema unless npm has installed that there. Returns the exit code: 1, and no change, when the file exists, or, for
 * the default one, a file of another default name: the gateway would not know which one to use.
 */
export async function init({ file: named, tree, schema, print, printFault }: InitOptions): Promise<number> {
  const file = named ?? DEFAULT_FILES[0];
  if (!/\.ya?ml$/.test(file)) {
    printFault(`${file}: must end with .yaml or .yml.`);
    return 1;
  }
  const existing = named === undefined ? DEFAULT_FILES.find((each) => existsSync(each)) : undefined;
  const folder = dirname(file);
  if (!existsSync(folder)) {
    printFault(`${file}: the folder ${folder} does not exist.`);
    return 1;
  }
  const isInstalled = existsSync(join(folder, INSTALLED));
  if (existing !== undefined || !(await create(file, writeTemplate(tree, `./${isInstalled ? INSTALLED : SCHEMA}`)))) {
    printFault(`${existing ?? file} exists; it was not changed.`);
    return 1;
  }
  if (!isInstalled) await copyFile(schema, join(folder, SCHEMA));
  print(`Wrote ${file}. Check it with \`trestle-gateway check\`.`);
  return 0;
}

/** Creates a file, whole or not at all. Returns false, and changes nothing, when it exists. */
async function create(file: string, text: string): Promise<boolean> {
  const temporary = `${file}.${String(process.pid)}.tmp`;
  await writeFile(temporary, text, { flag: 'wx' });
  try {
    await link(temporary, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
