/** Where the schema files are, and their text. Works from `src` and from `dist` alike. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SubgraphName } from './subgraphs.ts';

/** The folder `schema/`, with a slash at its end. */
export const SCHEMA_DIRECTORY = fileURLToPath(new URL('../', import.meta.url));

/** The path of a file of the schema room, e.g. `supergraph.graphql`. */
export function schemaPath(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url));
}

/** The SDL that a subgraph team wrote, as it stands in its file. */
export function readSubgraphSdl(name: SubgraphName): string {
  return readFileSync(schemaPath(`${name}.graphql`), 'utf8');
}

/** The public view of the composed schema, as SDL. */
export function readApiSdl(): string {
  return readFileSync(schemaPath('api.graphql'), 'utf8');
}
