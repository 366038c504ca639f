/** Reports the results of a run. */
import { writeSection } from '../results.mjs';

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** Prints the results. Writes them to RESULTS.md only when `missing` is empty, which lists what the run has left out: a part would replace the figures of a whole run. */
export async function report({ results, memory, missing }) {
  const lines = [];
  for (const { scene, bytes, samples } of results) {
    const base = median(samples.get('chain').map(({ cpu }) => cpu));
    const baseP99 = median(samples.get('chain').map(({ p99 }) => p99));
    lines.push(
      '',
      `### ${scene} (${(bytes / 1024).toFixed(1)} KB)`,
      '',
      '| gateway | CPU a request | against the chain | of the rounds | p99 against the chain |',
      '| --- | --- | --- | --- | --- |',
    );
    for (const [name, rounds] of samples) {
      const cpu = median(rounds.map((round) => round.cpu));
      const spread = rounds.map((round) => (round.cpu / base).toFixed(2)).join(' ');
      lines.push(
        `| ${name} | ${(cpu * 1e6).toFixed(0)} µs | ${(cpu / base).toFixed(2)} | ${spread} | ${(median(rounds.map((round) => round.p99)) / baseP99).toFixed(2)} |`,
      );
    }
  }
  lines.push('', `RSS afterwards: ${memory.map(([name, megabytes]) => `${name} ${megabytes} MB`).join(', ')}.`);
  console.log(lines.join('\n'));
  if (missing.length > 0) {
    console.log('');
    console.log(`RESULTS.md is unchanged: this run is not a whole one (${missing.join(', ')}).`);
    return;
  }
  const how = 'Medians of interleaved rounds; CPU is user + system of the gateway’s process, all of its threads among them.';
  await writeSection('What the gateway costs', { command: 'npm run bench:gateway', lines: [how, ...lines] });
}
