/**
 * `npm run fuzz:markers`: many requests in flight, each with a marker of its own, against a gateway that overwrites released memory. Fails when a
 * response has the marker of another request, or other data than graphql-js returns. `npm run soak`: the same load for 24 minutes of CPU time of the
 * gateway, as it is deployed. Fails also when its memory grows.
 */
import { parseArgs } from 'node:util';
import { PARTS, judgeMemory } from './memory.ts';
import { runMarkers } from './run.ts';

const MIB = 1024 * 1024;
const NOTE_EVERY_MS = 30_000;
const MAX_SHOWN = 5;

const { values } = parseArgs({
  options: {
    soak: { type: 'boolean', default: false },
    /** The duration, unless `--cpu-minutes` ends the run before. */
    seconds: { type: 'string' },
    'cpu-minutes': { type: 'string' },
    clients: { type: 'string', default: '64' },
  },
});
const isSoak = values.soak;
// A run that is interrupted reports what it has found, and leaves no process behind.
const interrupted = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    interrupted.abort();
  });
let notedAt = 0;
const report = await runMarkers({
  clients: Number(values.clients),
  seconds: Number(values.seconds ?? (isSoak ? Infinity : 180)),
  cpuSeconds: Number(values['cpu-minutes'] ?? (isSoak && values.seconds === undefined ? 24 : Infinity)) * 60,
  signal: interrupted.signal,
  isOverwriting: !isSoak,
  onSample({ rssBytes, cpuMs }, elapsedMs) {
    if (elapsedMs < notedAt + NOTE_EVERY_MS) return;
    notedAt = elapsedMs;
    print(`${(elapsedMs / 1000).toFixed(0)} s, ${(cpuMs / 60_000).toFixed(2)} CPU-minutes: ${toMib(rssBytes)} MiB`);
  },
});
const { paths, leaks, differences, faultsNoticed, refused, memory } = report;
for (const fault of [leaks, differences, faultsNoticed].flatMap((each) => each.slice(0, MAX_SHOWN))) print(`${fault}\n`);
const statuses = [...refused].map(([status, count]) => `${count} with status ${status}`).join(', ');
print(
  `${report.responses} responses in ${(report.elapsedMs / 1000).toFixed(0)} s and ${(report.cpuMs / 60_000).toFixed(2)} CPU-minutes: ` +
    `${report.equal} results equal to graphql-js, ${report.faults} of subgraphs that failed, ${report.late} of late ones; ${report.aborted} aborted, ${report.lost} lost, ${statuses || 'none refused'}`,
);
print(`executions: ${[...paths].map(([path, count]) => `${path} ${count}`).join(', ')}`);
const isClean = leaks.length + differences.length + faultsNoticed.length + (paths.get('fault') ?? 0) === 0;
print(`${leaks.length} responses with markers of others, ${differences.length} with other data, ${faultsNoticed.length} faults noticed`);
const { isFlat, medians, peaks } = judgeMemory(memory);
print(
  `memory in ${PARTS} parts of the time: ${medians.map((median, i) => `${toMib(median)} (peak ${toMib(peaks[i] ?? 0)})`).join(', ')} MiB${isSoak ? (isFlat ? ': flat' : ': NOT flat') : ''}`,
);
process.exitCode = isClean && report.equal > 0 && (isFlat || !isSoak) ? 0 : 1;

function toMib(bytes: number): string {
  return (bytes / MIB).toFixed(0);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
