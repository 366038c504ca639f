/** Compares the files of `schema/` with the table of subgraphs, so that no file is ignored silently. No I/O. */

/** Names the files of `schema/` that composition writes. */
export const COMPOSED_FILES = ['supergraph.graphql', 'api.graphql'] as const;

/** Subgraph names become part of settings (`<NAME>_PORT`), databases and folders. */
const NAME = /^[a-z][a-z0-9]*$/;

/** Returns one line for each fault: a file without an entry in the table, an entry without a file, a name that settings cannot contain. */
export function findFileFaults(files: readonly string[], names: readonly string[]): string[] {
  const composed: readonly string[] = COMPOSED_FILES;
  const found = files.filter((file) => /\.(?:graphqls?|gql)$/.test(file) && !composed.includes(file));
  const unknown = found.filter((file) => !names.some((name) => file === `${name}.graphql`));
  return [
    ...unknown.map((file) => {
      const name = file.replace(/\.\w+$/, '');
      return file.endsWith('.graphql')
        ? `schema/${file} does not belong to a subgraph. Add an entry "${name}" with its port to schema/src/subgraphs.ts, or move the file.`
        : `schema/${file} is ignored because of its extension. Rename it to schema/${name}.graphql.`;
    }),
    ...names
      .filter((name) => !found.includes(`${name}.graphql`))
      .map((name) => `schema/${name}.graphql does not exist. Create it, or remove the entry "${name}" from schema/src/subgraphs.ts.`),
    ...names
      .filter((name) => !NAME.test(name))
      .map((name) => `Subgraph name "${name}" is invalid. Use lower-case letters and digits, beginning with a letter.`),
  ];
}
