/** `npm run fuzz`: compares the engines on 100,000 operations, or as many as `--operations` says, from `--seed` on. */
import { parseArgs } from 'node:util';
import { silenceVendorTelemetry } from '../config.ts';
import { fuzz, writeFailure } from './fuzz.ts';

silenceVendorTelemetry();
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '100000' },
    failures: { type: 'string', default: '5' },
  },
});
const report = await fuzz({
  seed: Number(values.seed),
  operations: Number(values.operations),
  perSupergraph: 100,
  maxFailures: Number(values.failures),
});
for (const failure of report.failures) process.stdout.write(`${writeFailure(failure)}\n\n`);
const known = [...report.known].map(([fault, count]) => `${count} by "${fault}"`).join(', ');
process.stdout.write(
  `${report.operations} operations on ${report.supergraphs} supergraphs: ${report.failures.length} failed; known faults of the stock engine: ${known || 'none'}\n`,
);
process.exitCode = report.failures.length > 0 ? 1 : 0;
