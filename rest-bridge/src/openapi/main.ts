/** `npm run openapi`: writes the OpenAPI document of each version to `schema/openapi/`, and the AsyncAPI document to `schema/asyncapi/`. With `--check` it reports stale ones and exits with 1. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readApiSdl } from '@trestle/schema/sdl';
import { buildSchema } from 'graphql';
import { createAddresses } from '../http/addresses.ts';
import { withDocumentRoutes } from './document-routes.ts';
import { checkRoutes } from '../pipeline/compile.ts';
import { routes } from '../routes/route-table.ts';
import { CHANGELOG } from '../versions/changelog.ts';
import { createAsyncApi } from '../asyncapi/document.ts';
import { createOpenApi } from './document.ts';

const directory = fileURLToPath(new URL('../../../schema/', import.meta.url));
const schema = buildSchema(readApiSdl());
const isCheck = process.argv.includes('--check');

const files = [
  ...CHANGELOG.map(({ version }) => [`openapi/v${String(version)}.json`, describe(version)] as const),
  ['asyncapi/v1.json', createAsyncApi(schema)] as const,
];
for (const [name, document] of files) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  const file = directory + name;
  if (!isCheck) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`wrote schema/${name}\n`);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    process.stderr.write(`schema/${name} is stale: run npm run openapi\n`);
    process.exitCode = 1;
  }
}

function describe(version: number): object {
  checkRoutes(routes, { schema, version });
  const routesOfAll = withDocumentRoutes(routes, { schema, addresses: createAddresses({}), publicKeys: () => [] });
  return createOpenApi(routesOfAll, { schema, version });
}
