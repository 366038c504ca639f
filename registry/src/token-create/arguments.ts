/** The command line of `registry:token`. No I/O. */
import { parseArgs } from 'node:util';
import { TOKEN_SCOPES, type TokenScope } from '../records.ts';
import type { NewToken } from '../tokens/create-token.ts';

const SCOPES = TOKEN_SCOPES.join(', ').toLowerCase();

export const USAGE = `Usage: npm run registry:token -- --name NAME [--scope SCOPE]… [--subgraph NAME]… [--environment NAME]…

Creates a token in the database of REGISTRY_DATABASE_URL (default: that of the running npm start), and prints it: it cannot be read again.
Scopes: ${SCOPES}; default: all. --subgraph limits what the token may publish, --environment where it is valid. Both can be repeated.`;

/** Parses the arguments. Returns 'help' for --help. Throws an Error with a message for the user. */
export function parseArguments(args: readonly string[]): NewToken | 'help' {
  const strings = { type: 'string', multiple: true } as const;
  const options = { name: { type: 'string' }, scope: strings, subgraph: strings, environment: strings, help: { type: 'boolean' } } as const;
  const { values } = parseArgs({ args: [...args], options });
  if (values.help === true) return 'help';
  if (values.name === undefined) throw new Error('--name is required.');
  return {
    name: values.name,
    scopes: values.scope?.map(toScope) ?? TOKEN_SCOPES,
    subgraphs: values.subgraph ?? null,
    environments: values.environment ?? null,
  };
}

function toScope(text: string): TokenScope {
  const scope = TOKEN_SCOPES.find((each) => each === text.toUpperCase());
  if (!scope) throw new Error(`--scope must be one of ${SCOPES}, not "${text}".`);
  return scope;
}
