/**
 * Measures `npm run dev` on a copy of the repository: the time from writing a source of a process until the process that runs it is ready, and the
 * CPU time of that process until then, which does not depend on what else the machine does. Prints the medians of the rounds.
 */
import { appendFile, chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { copyRepository } from '../../e2e/dist/scenarios/development/copied-repository.js';
import { chooseFreePorts, findChildren, startSupervisor } from '../../e2e/dist/stack/processes/supervisor-process.js';

const ROUNDS = 5;
const PROCESSES = {
  users: 'subgraphs/users',
  orders: 'subgraphs/orders',
  content: 'subgraphs/content',
  gateway: 'gateway',
  'rest-bridge': 'rest-bridge',
};
/** `/proc` counts in hundredths of a second on every Linux of Node.js. */
const TICKS_PER_SECOND = 100;

const home = await mkdtemp(join(tmpdir(), 'trestle-restart-'));
// PostgreSQL runs as `nobody` when root starts it.
await chmod(home, 0o755);
const root = join(home, 'repository');
await copyRepository(root);
const env = { DEMO_DATA: 'off', SUPERGRAPH_FILE: join(root, 'schema/supergraph.graphql') };
const trestle = startSupervisor({ ports: await chooseFreePorts(), dataDirectory: join(home, 'data'), root, args: ['--watch'], env });
try {
  await trestle.says('Watching the sources');
  const times = new Map(Object.keys(PROCESSES).map((name) => [name, []]));
  for (let round = 1; round <= ROUNDS; round++)
    for (const [name, folder] of Object.entries(PROCESSES)) times.get(name).push(await measure({ name, folder, round }));
  process.stdout.write('process        until ready   CPU of the new process\n');
  for (const [name, measured] of times) {
    const [wall, cpu] = ['wall', 'cpu'].map((key) => median(measured.map((each) => each[key])));
    process.stdout.write(`${name.padEnd(14)} ${toText(wall)}        ${toText(cpu)}\n`);
  }
} finally {
  trestle.child.kill('SIGTERM');
  await trestle.ended;
  await rm(home, { recursive: true, force: true });
}

/** Returns seconds. */
async function measure({ name, folder, round }) {
  const began = performance.now();
  await appendFile(join(root, folder, 'src/main.ts'), `\nexport const edited${String(round)} = true;\n`);
  await trestle.says(`${name} restarted in`);
  const wall = (performance.now() - began) / 1000;
  const [pid] = findChildren(trestle.child.pid, `${folder}/dist/`);
  const stat = await readFile(`/proc/${String(pid)}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return { wall, cpu: (Number(user) + Number(system)) / TICKS_PER_SECOND };
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function toText(seconds) {
  return `${seconds.toFixed(2)} s`;
}
