/** Holds the files of `schema/` against the table of subgraphs, so that none is left out silently. No I/O. */

/** Files of `schema/` that composition writes. */
export const COMPOSED_FILES = ['supergraph.graphql', 'api.graphql'] as const;

/** Names stand in settings (`<NAME>_PORT`), databases and folders. */
const NAME = /^[a-z][a-z0-9]*$/;

/** Returns what is wrong with the files of `schema/`, one line each: a file without a row, a row without a file, a name that settings can't have. */
export function findFileFaults(files: readonly string[], names: readonly string[]): string[] {
  const composed: readonly string[] = COMPOSED_FILES;
  const found = files.filter((file) => /\.(?:graphqls?|gql)$/.test(file) && !composed.includes(file));
  const unknown = found.filter((file) => !names.some((name) => file === `${name}.graphql`));
  return [
    ...unknown.map((file) => {
      const name = file.replace(/\.\w+$/, '');
      return file.endsWith('.graphql')
        ? `schema/${file} belongs to no subgraph: add a row "${name}" with its port to schema/src/subgraphs.ts, or move the file elsewhere`
        : `schema/${file} is not read: name it schema/${name}.graphql`;
    }),
    ...names
      .filter((name) => !found.includes(`${name}.graphql`))
      .map((name) => `schema/${name}.graphql is missing: schema/src/subgraphs.ts has a row for it`),
    ...names
      .filter((name) => !NAME.test(name))
      .map((name) => `The subgraph name "${name}" must consist of lower-case letters and digits and begin with a letter`),
  ];
}
