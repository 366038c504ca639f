/** Brings the database of a subgraph, or of the registry, up to date. */
import { fileURLToPath } from 'node:url';
import { applyMigrations } from '@trestle/postgres/migrate';
import type { SubgraphName } from '@trestle/schema/subgraphs';

/** Applies the missing migrations of `prisma/<name>/migrations` and returns their names. Several processes may do it at once. */
export function migrate(name: SubgraphName | 'registry', url: string): Promise<string[]> {
  return applyMigrations({ url, directory: fileURLToPath(new URL(`../../../../prisma/${name}/migrations`, import.meta.url)) });
}
