/**
 * How long the parts of a check take (issue of the registry: 5,000 types compared in 1 s, 3,000 operations decided in 5 s, a check of 50 subgraphs
 * with 100 types each in 15 s). Fails when one takes longer.
 */
import { checkGraph } from '@trestle/graph-checks/check';
import { listChanges } from '@trestle/graph-checks/changes';
import { compareCosts } from '@trestle/graph-checks/compare-costs';
import { composeGraph } from '@trestle/graph-checks/compose';
import { toCostSchemas } from '@trestle/graph-checks/estimate-cost';
import { decideChanges } from '@trestle/graph-checks/usage';
import { buildSchema } from 'graphql';

const SUBGRAPHS = 50;
const TYPES = 100;
const OPERATIONS = 3_000;
const HEAD = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@key", "@tag"])\n';

/** Each type has a key, six fields, one of which is of the next subgraph's type; `changed` removes a field of every tenth type. */
function writeSubgraph(index, changed = false) {
  const next = (index + 1) % SUBGRAPHS;
  const types = Array.from({ length: TYPES }, (_, at) => {
    const name = changed && at % 10 === 0 ? '' : '"Its name." name: String';
    return `"A type." type S${index}T${at} @key(fields: "id") { "Its id." id: ID! ${name} "Its size." size(unit: S${index}Unit): Int
      "Its text." text: String! "Its times." times: [String!]! "Another." other: S${next}T${at} }
      type S${next}T${at} @key(fields: "id", resolvable: false) { id: ID! }`;
  });
  return {
    name: `s${index}`,
    url: `http://s${index}.example/graphql`,
    sdl: `${HEAD}type Query { "One." s${index}(id: ID!): S${index}T0 "All." all${index}: [S${index}T1!]! } enum S${index}Unit { CM INCH }\n${types.join('\n')}`,
  };
}

function writeOperation(index) {
  const [subgraph, at] = [index % SUBGRAPHS, index % TYPES];
  return `query Operation${index}($id: ID!, $unit: S${subgraph}Unit) { s${subgraph}(id: $id) { id name text size(unit: $unit)
    other { id text other { id name other { times size(unit: CM) } } } ...F${index} } all${subgraph} { id text other { name times } } }
    fragment F${index} on S${subgraph}T0 { text times other { id n${at}: name } }`;
}

const results = [];
async function measure(what, limitMs, run) {
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    const start = performance.now();
    await run();
    times.push(performance.now() - start);
  }
  results.push({ what, 'first (ms)': Math.round(times[0]), 'median (ms)': Math.round(times.sort((a, b) => a - b)[1]), limitMs });
}

const current = Array.from({ length: SUBGRAPHS }, (_, index) => writeSubgraph(index));
const proposed = current.map((subgraph, index) => (index === 7 ? writeSubgraph(index, true) : subgraph));
const [before, after] = [current, proposed].map((subgraphs) => {
  const composition = composeGraph(subgraphs, { secondOpinion: false });
  if (!composition.ok) throw new Error(composition.errors[0].message);
  return composition;
});
const [from, to] = [before, after].map(({ apiSdl }) => buildSchema(apiSdl));
const clients = [{ name: 'web', version: '1', count: 1000, lastSeen: new Date().toISOString() }];
const operations = Array.from({ length: OPERATIONS }, (_, index) => ({
  hash: `${index}`,
  name: `Operation${index}`,
  text: writeOperation(index),
  clients,
}));
const usage = { days: 30, operations };

const changes = await listChanges(from, to);
await measure(`list the changes between two schemas of ${SUBGRAPHS * TYPES} types`, 1_000, () => listChanges(from, to));
await measure(`decide them by ${OPERATIONS} operations`, 5_000, () => decideChanges({ schema: from, changes, usage }));
await measure(`compare what ${OPERATIONS} operations cost`, 5_000, () => {
  const [old, proposedSchemas] = [before, after].map(({ apiSdl, supergraphSdl }) => toCostSchemas(apiSdl, supergraphSdl));
  return compareCosts({ before: old, after: proposedSchemas, usage });
});
await measure(`compose ${SUBGRAPHS} subgraphs of ${TYPES} types by one composer`, 15_000, () =>
  composeGraph(proposed, { secondOpinion: false }),
);
await measure('check them: two composers, changes, operations, costs, lint', 15_000, async () => {
  const currentGraph = { currentApiSdl: before.apiSdl, currentSupergraphSdl: before.supergraphSdl };
  const report = await checkGraph({ subgraphs: proposed, changed: ['s7'], ...currentGraph, usage });
  if (report.verdict !== 'fail' || !report.composition.ok || report.changes.length === 0)
    throw new Error(`The check is ${report.verdict}.`);
});
console.table(results);
const affected = decideChanges({ schema: from, changes, usage }).reduce((sum, { affectedCount }) => sum + affectedCount, 0);
console.log(`${changes.length} changes, ${affected} affected operations`);
process.exitCode = results.some((each) => each['median (ms)'] > each.limitMs) ? 1 : 0;
