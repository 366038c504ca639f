/** The arguments of the command `search:rebuild`. No I/O. */
import { parseArgs } from 'node:util';

/** How to call the command. */
export const USAGE = `Usage: npm run search:rebuild [-- --timeout <seconds>]

Has a running content process build the search index anew and use it when it is complete. Searches go on meanwhile. Without
CONTENT_DATABASE_URL it is the index of npm start, in DATA_DIR.

  --timeout <seconds>  how long to wait, 1 to 86400; 3600 by default. The build itself goes on.`;

const MAX_TIMEOUT_SECONDS = 86_400;

/** Parses the arguments. Throws an Error; one with a code `ERR_PARSE_ARGS_…` for an unknown argument. */
export function parseArguments(args: readonly string[]): { readonly timeoutSeconds: number } | 'help' {
  const options = { timeout: { type: 'string', default: '3600' }, help: { type: 'boolean', default: false } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return 'help';
  const timeoutSeconds = /^\d{1,5}$/.test(values.timeout) ? Number(values.timeout) : 0;
  if (timeoutSeconds < 1 || timeoutSeconds > MAX_TIMEOUT_SECONDS) throw new Error('`--timeout` must be 1 to 86400 seconds.');
  return { timeoutSeconds };
}
