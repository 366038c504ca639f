/** `npm run configuration`: writes the JSON Schema of configuration files, and the tables of their reference. With `--check` it reports stale ones and exits with 1. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createJsonSchema } from './json-schema.ts';
import { updateReference } from './reference.ts';
import { createSettingTree } from '../entries/setting-tree.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const tree = createSettingTree();
const read = (name: string) => (existsSync(root + name) ? readFileSync(root + name, 'utf8') : '');
const PAGE = 'docs/gateway/configuration.md';
const files = [
  ['gateway/trestle.schema.json', `${JSON.stringify(createJsonSchema(tree), null, 2)}\n`],
  [PAGE, updateReference(read(PAGE), tree)],
] as const;

for (const [name, text] of files) {
  if (read(name) === text) continue;
  if (process.argv.includes('--check')) {
    process.stderr.write(`${name} is stale: run npm run configuration\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(root + name, text);
    process.stdout.write(`wrote ${name}\n`);
  }
}
