/** The command line of `admin:reset-second-factor`. No I/O. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run admin:reset-second-factor -- --email ADDRESS

Removes the authenticator app, the passkeys and the recovery codes of an account in the database of USERS_DATABASE_URL, ends its sessions
and revokes its tokens. Its password stays. Make sure first that the person who asks is the owner of the account.`;

/** Returns the e-mail address, or 'help' for --help. Throws an Error with a message for the user. */
export function parseArguments(args: readonly string[]): { readonly email: string } | 'help' {
  const options = { email: { type: 'string' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help === true) return 'help';
  if (values.email === undefined) throw new Error('--email is required.');
  return { email: values.email };
}
