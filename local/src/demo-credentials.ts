/** `npm run demo:credentials`: prints the demo accounts again; with `--json` in the form for machines (contract §1). */
import { readConfig } from './config.ts';
import { readCredentials, toTable } from './credentials.ts';

const credentials = await readCredentials(readConfig().DATA_DIR);
if (!credentials) {
  process.stderr.write('There are no demo accounts yet: "npm start" makes them (unless DEMO_DATA is off)\n');
  process.exitCode = 1;
} else {
  const text = process.argv.includes('--json') ? JSON.stringify(credentials) : toTable(credentials);
  process.stdout.write(`${text}\n`);
}
