/**
 * `npm run fuzz`: compares the engine `trestle` with graphql-js on 20,000 operations (`--reference`) and 5,000 with contextual arguments (`--contexts`),
 * results in parts with whole ones on 1,000 (`--deferred`), both engines on 100,000 (`--operations`), and both executors on 100,000 with spoiled
 * responses (`--executors`). With fields that are selected again under other names: 5,000 with graphql-js and by both executors (`--repeated`). With
 * aliases that could be taken for other fields: 5,000 in each of these ways (`--aliases`), and in half of the others with parts and with the stock engine.
 * `--executor bytes` does only what compares executors. `--seed` is the first seed.
 */
import { parseArgs } from 'node:util';
import { silenceVendorTelemetry } from '#gateway/config';
import { fuzzDeferred } from './deferred/fuzz-deferred.ts';
import { fuzzExecutors } from './executors/fuzz-executors.ts';
import { fuzz, writeFailure } from './fuzz.ts';
import { compareWithReference, writeDifference } from './reference/differential.ts';

silenceVendorTelemetry();
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '100000' },
    reference: { type: 'string', default: '20000' },
    deferred: { type: 'string', default: '1000' },
    contexts: { type: 'string', default: '5000' },
    repeated: { type: 'string', default: '5000' },
    aliases: { type: 'string', default: '5000' },
    executors: { type: 'string', default: '100000' },
    executor: { type: 'string', default: '' },
    failures: { type: 'string', default: '5' },
  },
});
const [seed, maxFailures] = [Number(values.seed), Number(values.failures)];
let failed = 0;

if (values.executor !== 'bytes') {
  const kinds = [
    { name: '', count: values.reference },
    { name: ', contextual arguments', count: values.contexts, hasContexts: true },
    { name: ', repeated fields', count: values.repeated, repeatsFields: true },
    { name: ', chosen aliases', count: values.aliases, choosesAliases: true },
    { name: ', chosen aliases, contextual arguments', count: values.aliases, choosesAliases: true, hasContexts: true },
  ];
  for (const { name, count, ...kind } of kinds) {
    const compared = await compareWithReference({ seed, operations: Number(count), perWorld: 50, maxFailures, ...kind });
    for (const failure of compared.failures) process.stdout.write(`${writeDifference(failure)}\n\n`);
    const { operations, worlds, withErrors, batched, refused, failures } = compared;
    process.stdout.write(
      `graphql-js${name}: ${operations} operations on ${worlds} supergraphs, ${withErrors} with errors, ${batched} with batches of entities, ${refused} refused: ${failures.length} failed\n`,
    );
    failed += failures.length;
  }
  const deferred = await fuzzDeferred({ seed, operations: Number(values.deferred), perWorld: 50, maxFailures });
  for (const failure of deferred.failures) process.stdout.write(`${failure}\n\n`);
  process.stdout.write(
    `deferred: ${deferred.operations} operations, ${deferred.inParts} in parts, ${deferred.withFailures} with a fragment without data: ${deferred.failures.length} failed\n`,
  );
  failed += deferred.failures.length;
  const report = await fuzz({ seed, operations: Number(values.operations), perSupergraph: 100, maxFailures });
  for (const failure of report.failures) process.stdout.write(`${writeFailure(failure)}\n\n`);
  const known = [...report.known].map(([fault, count]) => `${count} by "${fault}"`).join(', ');
  process.stdout.write(
    `stock engine: ${report.operations} operations on ${report.supergraphs} supergraphs: ${report.failures.length} failed; its known faults: ${known || 'none'}\n`,
  );
  failed += report.failures.length;
}

const kinds = [
  { name: '', count: values.executors },
  { name: ', repeated fields', count: values.repeated, repeatsFields: true },
  { name: ', chosen aliases', count: values.aliases, choosesAliases: true },
];
for (const { name, count, ...kind } of kinds) {
  const executors = await fuzzExecutors({ seed, operations: Number(count), perSupergraph: 200, maxFailures, ...kind });
  for (const failure of executors.failures) process.stdout.write(`${failure}\n\n`);
  const paths = [...executors.paths].map(([path, times]) => `${path} ${times}`).join(', ');
  process.stdout.write(
    `executors${name}: ${executors.operations} operations on ${executors.supergraphs} supergraphs, ${executors.batched} with batches of entities (${paths}): ${executors.failures.length} failed\n`,
  );
  failed += executors.failures.length;
}
process.exitCode = failed > 0 ? 1 : 0;
