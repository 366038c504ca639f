/**
 * `npm run fuzz`: compares the engine `trestle` with graphql-js on 20,000 operations (`--reference`) and 5,000 with contextual arguments (`--contexts`),
 * results in parts with whole ones on 1,000 (`--deferred`), both engines on 100,000 (`--operations`), and both executors on 100,000 with spoiled
 * responses (`--executors`). `--executor bytes` does only the last. `--seed` is the first seed.
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
    executors: { type: 'string', default: '100000' },
    executor: { type: 'string', default: '' },
    failures: { type: 'string', default: '5' },
  },
});
const [seed, maxFailures] = [Number(values.seed), Number(values.failures)];
let failed = 0;

if (values.executor !== 'bytes') {
  for (const hasContexts of [false, true]) {
    const count = Number(hasContexts ? values.contexts : values.reference);
    const compared = await compareWithReference({ seed, operations: count, perWorld: 50, maxFailures, hasContexts });
    for (const failure of compared.failures) process.stdout.write(`${writeDifference(failure)}\n\n`);
    const { operations, worlds, withErrors, batched, refused, failures } = compared;
    process.stdout.write(
      `graphql-js${hasContexts ? ', contextual arguments' : ''}: ${operations} operations on ${worlds} supergraphs, ${withErrors} with errors, ${batched} with batches of entities, ${refused} refused: ${failures.length} failed\n`,
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

const executors = await fuzzExecutors({ seed, operations: Number(values.executors), perSupergraph: 200, maxFailures });
for (const failure of executors.failures) process.stdout.write(`${failure}\n\n`);
const paths = [...executors.paths].map(([path, count]) => `${path} ${count}`).join(', ');
process.stdout.write(
  `executors: ${executors.operations} operations on ${executors.supergraphs} supergraphs, ${executors.batched} with batches of entities (${paths}): ${executors.failures.length} failed\n`,
);
process.exitCode = failed + executors.failures.length > 0 ? 1 : 0;
