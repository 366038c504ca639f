/** `npm run demo:credentials [-- --json]`: prints the demo accounts as a table or as JSON (contract §1). */
import { readConfig } from './config.ts';
import { readCredentials, toTable } from './credentials.ts';

const credentials = await readCredentials(readConfig().DATA_DIR);
if (!credentials) {
  process.stderr.write('The demo accounts do not exist yet. Run "npm start" with DEMO_DATA=on, which is the default.\n');
  process.exitCode = 1;
} else {
  const text = process.argv.includes('--json') ? JSON.stringify(credentials) : toTable(credentials);
  process.stdout.write(`${text}\n`);
}
