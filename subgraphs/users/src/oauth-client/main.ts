/** `npm run oauth:client`: registers a client of the authorization server. */
import { randomBytes } from 'node:crypto';
import { openDatabase } from '@trestle/chassis/database/database';
import { migrate } from '@trestle/chassis/database/migrate';
import { Registry } from 'prom-client';
import { readAdminConfig } from '../config.ts';
import { createClientStore, generateClientSecret, hashClientSecret } from '../oauth/client-store.ts';
import { type ClientArguments, USAGE, parseArguments } from './arguments.ts';

/** Exit codes: 1 when nothing was changed, 2 for invalid arguments. */
try {
  const args = parseArguments(process.argv.slice(2));
  if (args === 'help') process.stdout.write(`${USAGE}\n`);
  else await run(args);
} catch (error) {
  const isUsage = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') ?? false;
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}${isUsage ? `\n\n${USAGE}` : ''}\n`);
  process.exitCode = isUsage ? 2 : 1;
}

async function run({ isPublic, ...client }: ClientArguments): Promise<void> {
  const { USERS_DATABASE_URL: url } = readAdminConfig();
  await migrate('users', url);
  const database = openDatabase({ url, metrics: new Registry(), connections: 1 });
  try {
    const id = `cli_${randomBytes(12).toString('hex')}`;
    const secret = isPublic ? undefined : generateClientSecret();
    const secretHash = secret === undefined ? null : hashClientSecret(secret);
    if (!(await createClientStore(database.query).register({ ...client, id, secretHash })))
      throw new Error(`No account has the e-mail address ${client.ownerEmail}. Nothing was changed.`);
    const { redirectUris, grantTypes, scopes } = client;
    const registered = { clientId: id, ...(secret !== undefined && { clientSecret: secret }), redirectUris, grantTypes, scopes };
    process.stdout.write(`${JSON.stringify(registered, undefined, 2)}\n`);
  } finally {
    await database.close();
  }
}
