/** The command line of `admin:create`. No I/O. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run admin:create -- --email ADDRESS [--name NAME]
       npm run admin:create -- --email ADDRESS --promote

Makes an administrator in the database of USERS_DATABASE_URL. The password is asked for, or read from standard input when that is no terminal;
it has 8 to 128 characters. --promote makes an existing account an administrator instead; it keeps its password.`;

export interface AdminArguments {
  readonly email: string;
  readonly name: string;
  readonly isPromotion: boolean;
}

/** Returns what the arguments say, or 'help'. Throws an Error whose message is for a person. */
export function parseArguments(args: readonly string[]): AdminArguments | 'help' {
  const options = { email: { type: 'string' }, name: { type: 'string' }, promote: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help === true) return 'help';
  if (values.email === undefined) throw new Error('--email is required');
  if (values.promote === true && values.name !== undefined)
    throw new Error('--name does not go with --promote: the account keeps its name');
  return { email: values.email, name: values.name ?? 'Administrator', isPromotion: values.promote === true };
}
