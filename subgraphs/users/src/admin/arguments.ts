/** The command line of `admin:create`. No I/O. */
import { parseArgs } from 'node:util';

export const USAGE = `Usage: npm run admin:create -- --email ADDRESS [--name NAME]
       npm run admin:create -- --email ADDRESS --promote

Creates an administrator in the database of USERS_DATABASE_URL. The command asks for the password, or reads it from standard input if that is
not a terminal; it must have 8 to 128 characters. --promote gives an existing account the role ADMIN instead; its password does not change.`;

export interface AdminArguments {
  readonly email: string;
  readonly name: string;
  readonly isPromotion: boolean;
}

/** Parses the arguments. Returns 'help' for --help. Throws an Error with a message for the user. */
export function parseArguments(args: readonly string[]): AdminArguments | 'help' {
  const options = { email: { type: 'string' }, name: { type: 'string' }, promote: { type: 'boolean' }, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help === true) return 'help';
  if (values.email === undefined) throw new Error('--email is required.');
  if (values.promote === true && values.name !== undefined)
    throw new Error('--name cannot be combined with --promote: the account keeps its name.');
  return { email: values.email, name: values.name ?? 'Administrator', isPromotion: values.promote === true };
}
