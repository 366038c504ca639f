/** Who may import whom (docs: ARCHITECTURE.md "Packages"): schema ← packages ← everything. */
const rule = (name, comment, { from, to }) => ({ name, comment, severity: 'error', from, to });
const WORKSPACES = '^(schema|packages|subgraphs|gateway|registry|rest-bridge|local|e2e)/';

/** Folders of these packages do not import each other in cycles, by whichever files. */
const FOLDERS_WITHOUT_CYCLES = '^(rest-bridge|subgraphs/chassis|gateway|registry|packages/service)/src/';

export default {
  forbidden: [
    {
      ...rule('no-folder-cycles', 'Each folder stands above or below another.', {
        from: { path: FOLDERS_WITHOUT_CYCLES },
        to: { circular: true },
      }),
      scope: 'folder',
    },
    rule('no-circular', 'Everything moves one way.', { from: {}, to: { circular: true } }),
    rule('schema-imports-nothing', 'The contract depends on no package.', {
      from: { path: '^schema/' },
      to: { path: WORKSPACES, pathNot: '^schema/' },
    }),
    rule('packages-import-schema-only', 'A package knows the contract and other packages.', {
      from: { path: '^packages/' },
      to: { path: WORKSPACES, pathNot: '^(schema|packages)/' },
    }),
    rule('chassis-for-graphql-servers', 'The chassis is what subgraphs and the registry are built on.', {
      from: { pathNot: '^(subgraphs|registry|e2e)/' },
      to: { path: '^subgraphs/chassis/' },
    }),
    rule('chassis-knows-no-subgraph', 'The chassis serves all alike.', {
      from: { path: '^subgraphs/chassis/' },
      to: { path: '^subgraphs/(?!chassis/)' },
    }),
    rule('subgraphs-are-apart', 'Teams deploy independently.', {
      from: { path: '^subgraphs/(?!chassis/)([^/]+)/' },
      to: { path: '^subgraphs/(?!chassis/)', pathNot: '^subgraphs/$1/' },
    }),
    rule('gateway-knows-no-subgraph', 'The gateway serves any supergraph.', {
      from: { path: '^gateway/' },
      to: { path: '^(subgraphs|registry|rest-bridge|local|packages/postgres)/|@prisma/' },
    }),
    rule('registry-is-apart', 'The registry composes any subgraphs; gateways speak HTTP to it.', {
      from: { path: '^registry/' },
      to: { path: '^(subgraphs/(?!chassis/)|gateway|rest-bridge|local)/|@prisma/' },
    }),
    rule('bridge-knows-operations-only', 'The bridge speaks HTTP to the gateway.', {
      from: { path: '^rest-bridge/' },
      to: { path: '^(subgraphs|gateway|registry|local|packages/postgres)/|@prisma/' },
    }),
    rule('request-imports-no-folder', 'The vocabulary of a request depends on no other part of the gateway.', {
      from: { path: '^gateway/src/request/' },
      to: { path: '^gateway/src/', pathNot: '^gateway/src/request/' },
    }),
    rule('folders-do-not-import-the-composition-root', 'Files beside main.ts put the folders together.', {
      from: { path: '^gateway/src/[^/]+/' },
      // package-files.ts lies there because it finds the package by its own place.
      to: { path: '^gateway/src/[^/]+\\.ts$', pathNot: '^gateway/src/package-files\\.ts$' },
    }),
    rule('local-is-a-leaf', 'Nothing depends on how one machine runs everything.', {
      from: { pathNot: '^(local|e2e)/' },
      to: { path: '^local/' },
    }),
    rule('only-stores-touch-prisma', 'Queries stand in one place.', {
      from: { path: '^subgraphs/(?!chassis/)', pathNot: '/stores?(\\.test)?\\.ts$|/generated/' },
      to: { path: '/generated/prisma/' },
    }),
    rule('no-unresolvable', 'Every import must exist.', { from: {}, to: { couldNotResolve: true } }),
  ],
  options: {
    doNotFollow: { path: 'node_modules|/dist/' },
    exclude: { path: '(^|/)(dist|coverage)/.*\\.map$|^subgraphs/[^/]+/src/generated/(resolvers|prisma/(?!client))' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'types', 'node', 'default'] },
  },
};
