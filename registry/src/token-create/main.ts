/** `npm run registry:token`: creates a token of the registry, such as the first one. */
import { openDatabase } from '@trestle/chassis/database/database';
import { migrate } from '@trestle/chassis/database/migrate';
import { createIds } from '@trestle/chassis/values/ids';
import { Fault } from '@trestle/schema/errors';
import { Registry } from 'prom-client';
import { createStore } from '../store.ts';
import { type NewToken, createToken } from '../tokens/create-token.ts';
import { USAGE, parseArguments } from './arguments.ts';
import { readTokenConfig } from './config.ts';

/** Exit codes: 1 when nothing was changed, 2 for invalid arguments. */
try {
  const args = readArguments();
  if (args === 'help') process.stdout.write(`${USAGE}\n`);
  else if (args) await run(args);
} catch (error) {
  process.stderr.write(`${toMessage(error)}\n`);
  process.exitCode = 1;
}

/** Returns undefined for invalid arguments, which are reported. */
function readArguments(): ReturnType<typeof parseArguments> | undefined {
  try {
    return parseArguments(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${toMessage(error)}\n\n${USAGE}\n`);
    process.exitCode = 2;
    return undefined;
  }
}

async function run(token: NewToken): Promise<void> {
  const { url } = await readTokenConfig();
  // The command may be the first to use a new database.
  await migrate('registry', url);
  const database = openDatabase({ url, metrics: new Registry(), connections: 1 });
  try {
    const { secret } = await createToken(token, { store: createStore(database.query), createId: createIds({ now: Date.now }) });
    process.stdout.write(`${secret}\n`);
  } finally {
    await database.close();
  }
}

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const details = error instanceof Fault ? (error.details ?? []) : [];
  return [error.message, ...details.map(({ field, message }) => `  ${field}: ${message}`)].join('\n');
}
