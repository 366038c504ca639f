/** `npm run attack`: runs the attacks of `attacks.ts` against a system and prints what held. Exits with 1 unless all held. */
import { ATTACKS } from './attacks.ts';
import type { Attack } from './attack.ts';
import { type Options, USAGE, readOptions } from './options.ts';
import { toLine, toTable, toTotals } from './report.ts';
import { type Outcome, runAttacks } from './runner.ts';
import { type System, attachSystem, startSystem } from './target/system.ts';

/** The share of requests that the short form sends. */
const SHORT_SCALE = 0.1;

const options = readOptionsOrExit();
const outcomes: Outcome[] = [];
const chosen = ATTACKS.filter(
  ({ name, family, isShort, isLoad, restarts }) =>
    (!options.isShort || isShort === true) &&
    (!options.hasDefaultLimits || (isLoad === true && restarts === undefined)) &&
    `${family}: ${name}`.includes(options.only),
);
let running: System | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    void (running?.stop() ?? Promise.resolve()).finally(() => process.exit(130));
  });

const isOverTls = ({ needs }: Attack) => needs === 'tls';
const plain = chosen.filter((attack) => !isOverTls(attack) && (options.urls === undefined || attack.needs === undefined));
if (options.urls) await run(attachSystem(options.urls), plain);
else {
  if (plain.length > 0) await run(await startSystem({ ...options, isTls: false }), plain);
  if (chosen.some(isOverTls)) await run(await startSystem({ ...options, isTls: true }), chosen.filter(isOverTls));
}

if (options.isJson) {
  const rows = outcomes.map(({ attack, ...rest }) => ({ name: attack.name, target: attack.target, family: attack.family, ...rest }));
  process.stdout.write(`${JSON.stringify(rows)}\n`);
} else process.stdout.write(`\n${toTable(outcomes)}\n\n${toTotals(outcomes)}\n`);
process.exitCode = outcomes.every(({ verdict }) => verdict === 'held') ? 0 : 1;

async function run(system: System, attacks: readonly Attack[]): Promise<void> {
  running = system;
  try {
    await runAttacks({
      system,
      attacks,
      seed: options.seed,
      scale: options.isShort ? SHORT_SCALE : 1,
      onOutcome: (outcome) => {
        outcomes.push(outcome);
        process.stderr.write(`${toLine(outcome)}\n`);
      },
    });
  } finally {
    running = undefined;
    await system.stop();
  }
}

function readOptionsOrExit(): Options {
  try {
    return readOptions(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${USAGE}\n`);
    process.exit(2);
  }
}
