/** The credentials of the API in its OpenAPI document: which there are, and which of them each operation needs (spec §5). No I/O. */
import type { Alternatives } from '@trestle/identity/required-scopes';
import { DELEGABLE_SCOPES, SCOPE_DESCRIPTIONS } from '@trestle/identity/scopes';
import type { Route } from '../routes/route.ts';
import type { JsonSchema } from './schemas.ts';

/** A request has exactly one of them. A key in the URL is accepted for GET only. */
const CREDENTIALS = ['bearer', 'apiKey', 'apiKeyHeader'];
const URL_CREDENTIAL = 'apiKeyInUrl';
const OAUTH = 'oauth2';
const ANY_CALLER: Alternatives = [[]];

/** Returns the security schemes. `address` is the public address of the bridge without a trailing slash, or empty. */
export function toSecuritySchemes(address: string): Record<string, JsonSchema> {
  const scopes = Object.fromEntries(DELEGABLE_SCOPES.map((scope) => [scope, SCOPE_DESCRIPTIONS[scope]]));
  const tokenUrl = `${address}/oauth/token`;
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'An access token from `POST /auth/login`, which has every scope, or of OAuth 2.0. It expires after 15 minutes.',
    },
    apiKey: {
      type: 'apiKey',
      in: 'header',
      name: 'Authorization',
      description: 'An API key from `POST /api-keys`, as `ApiKey trestle_live_…`. It has the scopes that it was created with.',
    },
    apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key from `POST /api-keys`.' },
    apiKeyInUrl: {
      type: 'apiKey',
      in: 'query',
      name: 'apiKey',
      description: 'An API key that allows it with `isAllowedInUrl`, for GET only. The response is never stored.',
    },
    [OAUTH]: {
      type: 'oauth2',
      description:
        'Delegated access. Authorization code with PKCE (S256 only), client credentials, and the device flow at ' +
        '`/oauth/device_authorization`, which OpenAPI 3.1 cannot describe. See `/.well-known/openid-configuration`.',
      flows: {
        authorizationCode: { authorizationUrl: `${address}/oauth/authorize`, tokenUrl, refreshUrl: tokenUrl, scopes },
        clientCredentials: { tokenUrl, scopes },
      },
    },
  };
}

/**
 * Returns the security requirements of a route: each is enough, and names the scopes that the credential needs. Anonymous callers may use most
 * routes; a credential gives access to more data. Clients of OAuth are never given every scope.
 */
export function toSecurity({ method, needsCaller, ignoresCredential }: Route, anyOf: Alternatives = ANY_CALLER): object[] {
  if (ignoresCredential === true) return [{}];
  const own = [...CREDENTIALS, ...(method === 'GET' ? [URL_CREDENTIAL] : [])];
  const delegable = anyOf.filter((all) => all.every((scope) => (DELEGABLE_SCOPES as readonly string[]).includes(scope)));
  return [
    ...own.flatMap((scheme) => anyOf.map((all) => ({ [scheme]: all }))),
    ...delegable.map((all) => ({ [OAUTH]: all })),
    ...(needsCaller ? [] : [{}]),
  ];
}
