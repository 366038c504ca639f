/** Locates and reads the schema files. Works from `src` and from `dist`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { SubgraphName } from './subgraphs.ts';

/** Path of the folder `schema/`, with a trailing slash. */
export const SCHEMA_DIRECTORY = fileURLToPath(new URL('../', import.meta.url));

/** Returns the path of a file in `schema/`, such as `supergraph.graphql`. */
export function schemaPath(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url));
}

/** Returns the SDL of a subgraph as written in its file. Throws when the file does not exist. */
export function readSubgraphSdl(name: SubgraphName): string {
  return readFileSync(schemaPath(`${name}.graphql`), 'utf8');
}

/** Returns where the SDL that a subgraph serves is, in `schema/`. */
export function servedFile(name: SubgraphName): string {
  return `served/${name}.graphql`;
}

/** Returns the SDL that a subgraph serves: that of its file, with what Federation adds. `npm run schema:compose` writes it. */
export function readServedSdl(name: SubgraphName): string {
  return readFileSync(schemaPath(servedFile(name)), 'utf8');
}

/** Returns the SDL of the API schema: the composed schema as clients see it. */
export function readApiSdl(): string {
  return readFileSync(schemaPath('api.graphql'), 'utf8');
}
