/** `npm run schema:compose [-- --check]`: writes supergraph.graphql and api.graphql, or checks that they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { compose, formatProblem } from './compose.ts';
import { SUBGRAPH_NAMES, readSubgraphSdl, schemaPath } from './sdl.ts';

const DEFAULT_PORTS = { users: 4001, orders: 4002, content: 4003 };
const checkOnly = process.argv.includes('--check');

const result = compose(
  SUBGRAPH_NAMES.map((name) => ({
    name,
    url: `http://localhost:${DEFAULT_PORTS[name]}/graphql`,
    file: `schema/${name}.graphql`,
    sdl: readSubgraphSdl(name),
  })),
);

if (!result.ok) {
  process.stderr.write(`${result.problems.map(formatProblem).join('\n')}\n`);
  process.exitCode = 1;
} else {
  put('supergraph.graphql', result.supergraphSdl);
  put('api.graphql', result.apiSdl);
}

function put(file: string, text: string): void {
  if (read(file) === text) return;
  if (checkOnly) {
    process.stderr.write(`schema/${file} is stale: run "npm run schema:compose"\n`);
    process.exitCode = 1;
  } else {
    writeFileSync(schemaPath(file), text);
    process.stdout.write(`wrote schema/${file}\n`);
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(schemaPath(file), 'utf8');
  } catch {
    return undefined;
  }
}
