/** The command line of `oauth:client`. No I/O. */
import { parseArgs } from 'node:util';
import { DELEGABLE_SCOPES } from '@trestle/identity/scopes';
import { OAUTH_SCOPES } from '../oauth/scopes.ts';
import { toStoredEmail } from '../user/email-address.ts';
import { GRANT_TYPES, type GrantName } from '../oauth/grant-types.ts';

export const USAGE = `Usage: npm run oauth:client -- --name NAME --owner EMAIL --grant GRANT [--grant GRANT …]
         [--redirect-uri URI …] [--scope SCOPE …] [--public]

Registers a client of the authorization server in the database of USERS_DATABASE_URL, and prints its id and its secret as JSON. The secret is
not stored and cannot be printed again.

  --grant         ${Object.keys(GRANT_TYPES).join(', ')}
  --redirect-uri  where browsers return to: https, a scheme of the application's own, or http on this machine
  --scope         what the client may ask for; everything but account:manage by default
  --owner         the account for which tokens of client_credentials act
  --public        no secret, for applications in browsers, on phones and on devices`;

const MAX_NAME = 100;
const MAX_REDIRECT_URIS = 20;
const MAX_URI = 2000;
const LOOPBACK = /^(?:localhost|127\.0\.0\.1|\[::1\])$/;

/** A client to register. */
export interface ClientArguments {
  readonly name: string;
  readonly ownerEmail: string;
  readonly isPublic: boolean;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
  readonly scopes: readonly string[];
}

const OPTIONS = {
  name: { type: 'string' },
  owner: { type: 'string' },
  grant: { type: 'string', multiple: true },
  'redirect-uri': { type: 'string', multiple: true },
  scope: { type: 'string', multiple: true },
  public: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Parses the arguments. Returns 'help' for --help. Throws an Error with a message for the user. */
export function parseArguments(args: readonly string[]): ClientArguments | 'help' {
  const { values } = parseArgs({ args: [...args], options: OPTIONS });
  if (values.help === true) return 'help';
  const { name = '', owner = '', grant = [], scope = [], 'redirect-uri': redirectUris = [] } = values;
  const isPublic = values.public === true;
  if (name === '' || name.length > MAX_NAME) throw new Error(`--name is required, with at most ${String(MAX_NAME)} characters.`);
  if (owner === '') throw new Error('--owner is required: the e-mail address of an account.');
  const grants = grant.map(toGrant);
  checkGrants(grants, { isPublic, redirectUris });
  redirectUris.forEach(checkRedirectUri);
  for (const each of scope)
    if (!OAUTH_SCOPES.includes(each)) throw new Error(`--scope ${each} is unknown. Use ${OAUTH_SCOPES.join(', ')}.`);
  const scopes =
    scope.length > 0 ? [...new Set(scope)] : grants.some((each) => each !== 'client_credentials') ? OAUTH_SCOPES : DELEGABLE_SCOPES;
  return {
    name,
    ownerEmail: toStoredEmail(owner),
    isPublic,
    redirectUris,
    grantTypes: [...new Set(grants)].map((each) => GRANT_TYPES[each]),
    scopes,
  };
}

function toGrant(given: string): GrantName {
  const known = (Object.keys(GRANT_TYPES) as GrantName[]).find((each) => each === given);
  if (known === undefined) throw new Error(`--grant ${given} is unknown. Use ${Object.keys(GRANT_TYPES).join(', ')}.`);
  return known;
}

function checkGrants(grants: readonly GrantName[], { isPublic, redirectUris }: Pick<ClientArguments, 'isPublic' | 'redirectUris'>): void {
  if (grants.length === 0) throw new Error('--grant is required.');
  if (isPublic && grants.includes('client_credentials')) throw new Error('--public cannot be combined with --grant client_credentials.');
  const needsRedirect = grants.includes('authorization_code');
  if (needsRedirect !== redirectUris.length > 0)
    throw new Error('--redirect-uri is required with --grant authorization_code, and cannot be used without it.');
  if (redirectUris.length > MAX_REDIRECT_URIS) throw new Error(`--redirect-uri can be given ${String(MAX_REDIRECT_URIS)} times at most.`);
}

/** RFC 8252 §7, RFC 9700 §2.1: exact addresses, without a fragment, encrypted unless they stay on this machine. */
function checkRedirectUri(uri: string): void {
  if (uri.length > MAX_URI || !URL.canParse(uri) || uri.includes('#'))
    throw new Error(`--redirect-uri ${uri.slice(0, MAX_URI)} must be an absolute URI without a fragment.`);
  const { protocol, hostname, username, password } = new URL(uri);
  if (username !== '' || password !== '') throw new Error(`--redirect-uri ${uri} must not contain a user name or password.`);
  if (protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname))) return;
  // A scheme of a domain name, such as com.example.app: others could belong to any application.
  if (/^[a-z][a-z\d+-]*(?:\.[a-z\d+-]+)+:$/.test(protocol)) return;
  throw new Error(`--redirect-uri ${uri} must use https, http on this machine, or a scheme such as com.example.app.`);
}
