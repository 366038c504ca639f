/** `npm run schema:compose [-- --check]`: writes supergraph.graphql, api.graphql and `served/`, or with `--check` fails when they are out of date. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { compose, formatProblem } from './compose.ts';
import { SCHEMA_DIRECTORY, readSubgraphSdl, schemaPath, servedFile } from './sdl.ts';
import { toServedSdl } from './served-sdl.ts';
import { findFileFaults } from './subgraph-files.ts';
import { SUBGRAPHS, SUBGRAPH_NAMES } from './subgraphs.ts';

const checkOnly = process.argv.includes('--check');

const faults = findFileFaults(readdirSync(SCHEMA_DIRECTORY), SUBGRAPH_NAMES);
if (faults.length > 0) {
  process.stderr.write(`${faults.join('\n')}\n`);
  process.exit(1);
}

const result = compose(
  SUBGRAPH_NAMES.map((name) => ({
    name,
    url: `http://localhost:${String(SUBGRAPHS[name].port)}/graphql`,
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
  for (const name of SUBGRAPH_NAMES) put(servedFile(name), toServedSdl(readSubgraphSdl(name)));
}

function put(file: string, text: string): void {
  if (read(file) === text) return;
  if (checkOnly) {
    process.stderr.write(`schema/${file} is out of date. Run "npm run schema:compose".\n`);
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
