/** `npm run admin:create`: creates the first administrator of a deployment without demo accounts. */
import { systemClock } from '@trestle/chassis/values/clock';
import { openDatabase } from '@trestle/chassis/database/database';
import { createIds } from '@trestle/chassis/values/ids';
import { migrate } from '@trestle/chassis/database/migrate';
import { Fault } from '@trestle/schema/errors';
import { Registry } from 'prom-client';
import { readAdminConfig } from '../config.ts';
import { createPasswords } from '../user/passwords.ts';
import { openUsersStores } from '../stores.ts';
import { type AdminArguments, USAGE, parseArguments } from './arguments.ts';
import { createAdmin, promoteToAdmin } from './create-admin.ts';
import { readPassword } from './read-password.ts';

/** Exit codes: 1 when nothing was changed, 2 for invalid arguments. */
try {
  const args = parseArguments(process.argv.slice(2));
  if (args === 'help') process.stdout.write(`${USAGE}\n`);
  else await run(args);
} catch (error) {
  const isUsage = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') ?? false;
  process.stderr.write(`${toMessage(error)}${isUsage ? `\n\n${USAGE}` : ''}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function run({ email, name, isPromotion }: AdminArguments): Promise<void> {
  const { USERS_DATABASE_URL: url } = readAdminConfig();
  // The command may be the first to use a new database.
  await migrate('users', url);
  const database = openDatabase({ url, metrics: new Registry(), connections: 1 });
  const createId = createIds({ now: Date.now });
  const { idempotency, transact, close } = openUsersStores({ database, createId, clock: systemClock });
  const dependencies = { users: idempotency.stores.users, transact, passwords: createPasswords(), createId };
  const ask = () => readPassword(process.stdin, process.stderr);
  try {
    const admin = await (isPromotion ? promoteToAdmin(dependencies, email) : createAdmin(dependencies, { email, name, readPassword: ask }));
    process.stdout.write(`${admin.email} (${admin.id}) is an administrator.\n`);
  } finally {
    await close();
    await database.close();
  }
}

function toMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const details = error instanceof Fault ? (error.details ?? []) : [];
  return [error.message, ...details.map(({ field, message }) => `  ${field}: ${message}`)].join('\n');
}
