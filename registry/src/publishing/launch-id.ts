/** The ids of versions and launches: hashes of their content, so that they are the same in every environment and registry. No I/O. */
import { createHash } from 'node:crypto';
import { COMPOSER } from '../composition/compose-task.ts';
import type { SubgraphSchema } from '../records.ts';

/** Returns the id of a subgraph's version: the SHA-256 of its name, address and schema. */
export function versionIdOf({ name, url, sdl }: SubgraphSchema): string {
  return sha256([name, url, sdl]);
}

/** Returns the id of the launch that the composer makes of these subgraphs, in whatever order they are given. */
export function launchIdOf(subgraphs: readonly SubgraphSchema[], composer: string = COMPOSER): string {
  return sha256([composer, ...sortByName(subgraphs).map(({ name, url, sdl }) => [name, url, sdl])]);
}

/** Returns the subgraphs in the order of their names, by code units: the same on every machine. */
export function sortByName<T extends { readonly name: string }>(subgraphs: readonly T[]): T[] {
  return subgraphs.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
}

function sha256(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
