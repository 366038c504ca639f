/**
 * `npm run bench:usage`: what counting costs a request in the gateway, and how long the registry takes for its pages and for a check with the
 * roll-ups of 100 million requests. Fails when counting takes 1 % of a small request, a page 200 ms, or the check 5 s.
 */
import { writeSection } from '../results.mjs';
import { measureCounting } from './counting.mjs';
import { measureRegistry } from './registry.mjs';

const isQuick = process.argv.includes('--quick');
/** Less CPU time than the smallest request of `npm run bench:gateway` takes (82 µs), in nanoseconds. */
const REQUEST_NS = 50_000;
const MAX_SHARE = 0.01;
const MAX_PAGE_MS = 200;
const MAX_CHECK_MS = 5000;

const counting = measureCounting();
const share = counting.ns / REQUEST_NS;
const registry = await measureRegistry({ days: isQuick ? 3 : 30 });
const pages = registry.pages.map(({ name, median, worst }) => `| ${name} | ${median.toFixed(0)} ms | ${worst.toFixed(0)} ms |`);
const verdict = (isMet) => (isMet ? 'holds' : 'MISSED');
const lines = [
  '',
  `- counting a request takes ${counting.ns.toFixed(0)} ns, ${(share * 100).toFixed(2)} % of a request of ${REQUEST_NS / 1000} µs (limit < 1 %: ${verdict(share < MAX_SHARE)})`,
  `- writing the reports of ${counting.rows} rows takes ${counting.reportMs.toFixed(1)} ms, the longest one ${counting.longestMs.toFixed(1)} ms`,
  `- taking a report of 500 rows: ${registry.reportMs.toFixed(0)} ms`,
  `- a check by ${registry.operations} recorded operations: ${(registry.checkMs / 1000).toFixed(2)} s (limit < 5 s: ${verdict(registry.checkMs < MAX_CHECK_MS)}); without them ${(registry.withoutUsageMs / 1000).toFixed(2)} s`,
  '',
  `Pages of the registry with ${(registry.requests / 1e6).toFixed(0)} million requests of ${registry.operations} operations in ${registry.days} days: ${registry.dayRows} rows by day, ${registry.hourRows} by hour. Medians and worst of ${registry.repeats} (limit 200 ms).`,
  '',
  '| page | median | worst |',
  '| --- | --- | --- |',
  ...pages,
];
console.log(lines.join('\n'));
const isSlow = registry.pages.some(({ median }) => median >= MAX_PAGE_MS);
if (share >= MAX_SHARE || isSlow || registry.checkMs >= MAX_CHECK_MS) process.exitCode = 1;
if (!isQuick) await writeSection('What usage costs', { command: 'npm run bench:usage', lines });
