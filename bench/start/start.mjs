/**
 * Measures what loading a process costs, as modules and as a bundle: the CPU time until it reads its settings, which are missing, so that it ends
 * there. Prints the median of the rounds, which are interleaved.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ROUNDS = 5;
const PROCESSES = ['subgraphs/users', 'subgraphs/orders', 'subgraphs/content', 'gateway', 'rest-bridge'];
const ENTRIES = ['dist/main.js', 'dist/bundle/main.js'];
const REPORT = 'data:text/javascript,process.on("exit",()=>process.stderr.write("\\n"+JSON.stringify(process.cpuUsage())+"\\n"))';
const root = fileURLToPath(new URL('../../', import.meta.url));

const times = new Map();
for (let round = 0; round < ROUNDS; round++)
  for (const name of PROCESSES)
    for (const entry of ENTRIES) {
      const key = `${name}/${entry}`;
      times.set(key, [...(times.get(key) ?? []), measure(key)]);
    }
process.stdout.write('process              modules   bundle    bundle / modules\n');
for (const name of PROCESSES) {
  const [modules, bundle] = ENTRIES.map((entry) => median(times.get(`${name}/${entry}`)));
  process.stdout.write(`${name.padEnd(20)} ${toText(modules)}   ${toText(bundle)}   ${(bundle / modules).toFixed(2)}\n`);
}

/** Returns CPU time in seconds. */
function measure(entry) {
  const { stderr, stdout } = spawnSync(process.execPath, ['--import', REPORT, root + entry], { env: {}, encoding: 'utf8' });
  if (!`${stdout}${stderr}`.includes('Invalid settings')) throw new Error(`${entry} did not read its settings: ${stdout}${stderr}`);
  const { user, system } = JSON.parse(stderr.split('\n').find((line) => line.startsWith('{"user"')));
  return (user + system) / 1e6;
}

function median(values) {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)];
}

function toText(seconds) {
  return `${seconds.toFixed(2)} s`.padEnd(7);
}
