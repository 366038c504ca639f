/** Measures what the gateway's usage log adds to a request, and how long its reports take to write. */
import { RequestCounts } from '../../gateway/dist/usage/registry/request-counts.js';
import { writeReports } from '../../gateway/dist/usage/registry/usage-reports.js';
import { UsageLog } from '../../gateway/dist/usage/usage-log.js';

const OPERATIONS = 500;
const CLIENTS = 20;
const REQUESTS = 1_000_000;
const ROUNDS = 9;

const operations = Array.from({ length: OPERATIONS }, (_, i) => ({
  hash: String(i).padStart(64, '0'),
  name: `Operation${i}`,
  text: `query Operation${i}{user(id:""){id name orders{total status items{qty product{name}}}}}`,
  uses: ['Query.user', 'Query.user(id:)', 'User.id', 'User.name', 'User.orders', 'Order.total', 'Order.status', 'Order.items'],
}));
/** Headers are new strings in every request, whose hashes are not known yet. */
const headers = Array.from({ length: CLIENTS }, (_, i) => [Buffer.from(`client-of-team-${i}`), Buffer.from(`1.${i}.0`)]);

/** Numbers below `count` by Zipf's law: traffic has few operations that are sent most. */
const zipf = (count) => Array.from({ length: 65_536 }, (_, i) => Math.floor(count ** ((((i + 1) * 40_503) % 65_536) / 65_536)) - 1);
const [chosenOperations, chosenClients] = [zipf(OPERATIONS), zipf(CLIENTS)];

/** Returns the CPU time of a request in nanoseconds, without what only the benchmark does: the median of rounds. */
export function measureCounting() {
  const log = new UsageLog({ maxBytes: 1e9, onDrop: () => undefined, createCounts: () => new RequestCounts() });
  const parameters = { query: '{a}', extensions: {} };
  let sum = 0;
  const run = (isCounting) => {
    const started = process.cpuUsage();
    for (let i = 0; i < REQUESTS; i++) {
      const [name, version] = headers[chosenClients[(i * 7) & 65_535]];
      const client = { name: name.latin1Slice(), version: version.latin1Slice() };
      const operation = operations[chosenOperations[i & 65_535]];
      if (isCounting) {
        const usage = log.begin({ client, parameters });
        usage.operation = operation;
        usage.end({ isError: i % 50 === 0, isCached: false });
      } else sum += client.name.length + operation.name.length;
    }
    const { user, system } = process.cpuUsage(started);
    return ((user + system) / REQUESTS) * 1000;
  };
  const rounds = Array.from({ length: ROUNDS }, () => run(true) - run(false)).sort((a, b) => a - b);
  if (sum === 0) throw new Error('Nothing was run');
  const rows = log.take();
  const reports = Array.from({ length: ROUNDS }, () => measureReports(rows)).sort((a, b) => a.longestMs - b.longestMs);
  return { ns: rounds[Math.floor(ROUNDS / 2)], rows: rows.length, ...reports[Math.floor(ROUNDS / 2)] };
}

/** Returns how long it takes to write all reports, and the longest one. */
function measureReports(rows) {
  const started = performance.now();
  let longestMs = 0;
  let last = started;
  for (const report of writeReports(rows, { startedAt: Date.now(), isKnown: () => false, createId: () => 'id' })) {
    if (report.body.length === 0) throw new Error('A report is empty');
    longestMs = Math.max(longestMs, performance.now() - last);
    last = performance.now();
  }
  return { reportMs: performance.now() - started, longestMs };
}
