/**
 * `npm run scenario:two-nodes [files]`: runs the scenarios of the whole system on two machines behind load balancers (E2E_NODES=2), with one
 * PostgreSQL, one Redis and one NATS. A file or folder of LEFT_OUT runs on one machine only, in `npm test`.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const SCENARIOS = 'e2e/scenarios';
const LEFT_OUT = {
  'events/delivery.test.ts': 'drops events of an outbox that NATS still has, so that no consumer misses them',
  'rate-limits/': 'counts the requests of single processes, which it starts itself',
  'uploads/memory.test.ts': 'measures the memory of single processes',
  'rolling-restart/': 'has load balancers of its own',
  'subscriptions/resume.test.ts': 'kills single gateways, and counts the source streams of one',
  'subscriptions/live-stack.test.ts': 'stops a subgraph of one machine, and counts the subscriptions that come back to it',
};

const STARTS = /(?:start|lease)(?:Stack|OAuthSystem)\(/;

/** Scenarios without the whole system, such as those of the gateway alone, start no machines. */
function startsStack(path) {
  return statSync(join(ROOT, path)).isDirectory()
    ? readdirSync(join(ROOT, path)).some((name) => startsStack(`${path}/${name}`))
    : readFileSync(join(ROOT, path), 'utf8').match(STARTS) !== null;
}

const all = readdirSync(join(ROOT, SCENARIOS)).map((name) => `${SCENARIOS}/${name}`);
const files = process.argv.length > 2 ? process.argv.slice(2) : all.filter(startsStack).map((folder) => `${folder}/`);
const leftOut = Object.keys(LEFT_OUT).flatMap((path) => ['--testPathIgnorePatterns', `${SCENARIOS}/${path}`]);
for (const [path, reason] of Object.entries(LEFT_OUT)) console.log(`left out: ${path}: ${reason}`);
const jest = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...files, ...leftOut];
// Each test file starts twice as many processes as otherwise.
const { status } = spawnSync(process.execPath, [...jest, '--testTimeout', '180000', '--selectProjects', 'e2e'], {
  cwd: ROOT,
  env: { ...process.env, E2E_NODES: '2' },
  stdio: 'inherit',
});
process.exit(status ?? 1);
