/** `npm run openapi`: writes the OpenAPI document of each version to `schema/openapi/`. With `--check` it reports stale ones and exits with 1. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createAddresses } from '../http/addresses.ts';
import { withDocumentRoutes } from './document-routes.ts';
import { routes } from '../routes/route-table.ts';
import { CHANGELOG } from '../versions/changelog.ts';
import { createOpenApi } from './document.ts';

const directory = fileURLToPath(new URL('../../../schema/openapi/', import.meta.url));
const schema = buildSchema(readApiSdl());
const isCheck = process.argv.includes('--check');

mkdirSync(directory, { recursive: true });
for (const { version } of CHANGELOG) {
  const name = `v${String(version)}.json`;
  const text = `${JSON.stringify(createOpenApi(withDocumentRoutes(routes, { schema, addresses: createAddresses({}), publicKeys: () => [] }), { schema, version }), null, 2)}\n`;
  if (!isCheck) {
    writeFileSync(directory + name, text);
    process.stdout.write(`wrote schema/openapi/${name}\n`);
  } else if (readFileSync(directory + name, 'utf8') !== text) {
    process.stderr.write(`schema/openapi/${name} is stale: run npm run openapi\n`);
    process.exitCode = 1;
  }
}
