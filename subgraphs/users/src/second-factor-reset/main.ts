/** `npm run admin:reset-second-factor`: helps the owner of an account who has lost the authenticator app and the recovery codes. */
import { openDatabase } from '@trestle/chassis/database/database';
import { migrate } from '@trestle/chassis/database/migrate';
import { systemClock } from '@trestle/chassis/values/clock';
import { createIds } from '@trestle/chassis/values/ids';
import { Registry } from 'prom-client';
import { readAdminConfig } from '../config.ts';
import { openUsersStores } from '../stores.ts';
import { USAGE, parseArguments } from './arguments.ts';
import { resetSecondFactor } from './reset.ts';

/** Exit codes: 1 when nothing was changed, 2 for invalid arguments. */
try {
  const args = parseArguments(process.argv.slice(2));
  if (args === 'help') process.stdout.write(`${USAGE}\n`);
  else await run(args.email);
} catch (error) {
  const isUsage = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') ?? false;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${isUsage ? `\n\n${USAGE}` : ''}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function run(email: string): Promise<void> {
  const { USERS_DATABASE_URL: url } = readAdminConfig();
  await migrate('users', url);
  const database = openDatabase({ url, metrics: new Registry(), connections: 1 });
  const { idempotency, transact, close } = openUsersStores({ database, createId: createIds({ now: Date.now }), clock: systemClock });
  try {
    const { id, removed } = await resetSecondFactor({ users: idempotency.stores.users, transact }, email);
    process.stdout.write(`Account ${id} has no second factor any more (removed: ${removed}). Its sessions have ended.\n`);
  } finally {
    await close();
    await database.close();
  }
}
