/** `npm run keys:rotate`: replaces the key that signs access tokens, without a restart. */
import { parseArgs } from 'node:util';
import { readKeysConfig } from './config.ts';
import { rotateKeys } from './rotate.ts';

const USAGE = `Usage: npm run keys:rotate [-- --delay <seconds> --revoke-old]

Publishes a new key in TOKEN_PUBLIC_KEY_FILE, waits, and then signs with it in TOKEN_PRIVATE_KEY_FILE. Without these settings
it rotates the keys of npm start, in DATA_DIR. Old keys verify their tokens until these end; a later rotation removes them.

  --delay <seconds>  0 to 3600; 5 by default. Longer than verifiers take to load the file: with TOKEN_JWKS_URL at least 300.
  --revoke-old       Removes all old keys 3 s after the new one signs, when another person may know one of them. Their tokens
                     are refused then: clients get new ones with their refresh tokens.`;

try {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ options: { delay: { type: 'string', default: '5' }, 'revoke-old': flag, help: flag } });
  if (values.help) process.stdout.write(`${USAGE}\n`);
  else await run(values.delay, values['revoke-old']);
} catch (error) {
  const isUsage = (error as { code?: unknown }).code?.toString().startsWith('ERR_PARSE_ARGS') ?? false;
  process.stderr.write(
    `${error instanceof SyntaxError ? 'A key file is not well-formed.' : (error as Error).message}${isUsage ? `\n\n${USAGE}` : ''}\n`,
  );
  process.exitCode = isUsage ? 2 : 1;
}

async function run(delay: string, revokesOld: boolean): Promise<void> {
  const delaySeconds = /^\d{1,4}$/.test(delay) ? Number(delay) : NaN;
  if (!(delaySeconds <= 3600)) throw new Error('`--delay` must be 0 to 3600 seconds.');
  const { kid, removed, revoked } = await rotateKeys({ ...readKeysConfig(), delaySeconds, revokesOld });
  process.stdout.write(`Tokens are signed with the key ${kid} from now on.\n`);
  for (const old of removed) process.stdout.write(`Removed the key ${old}, whose tokens have ended.\n`);
  for (const old of revoked) process.stdout.write(`Removed the key ${old}: its tokens are refused.\n`);
}
