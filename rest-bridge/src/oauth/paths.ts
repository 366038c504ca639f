/** The paths of the authorization server and of password resets, which the bridge passes on to the users subgraph (RFC 6749 §3, RFC 8414 §3). No I/O. */

/** A path, and the methods that it takes besides HEAD and OPTIONS. */
export interface OAuthRoute {
  /** As logs and metrics name it: with `{uid}` in the place of an id. */
  readonly route: string;
  readonly methods: readonly string[];
  /** Whether programs call it, which read errors as RFC 6749 §5.2 has them; false for what browsers show. */
  readonly isEndpoint: boolean;
}

const READ = ['GET'];
const WRITE = ['POST'];
const BOTH = ['GET', 'POST'];

const ENDPOINTS: ReadonlySet<string> = new Set([
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/userinfo',
  '/oauth/jwks',
  '/oauth/device_authorization',
]);

/** Forms of other sites cannot begin a logout: with POST, the cookies would need `SameSite=None`. */
const ROUTES: ReadonlyMap<string, OAuthRoute> = toMap({
  '/.well-known/openid-configuration': READ,
  '/.well-known/oauth-authorization-server': READ,
  '/oauth/authorize': BOTH,
  '/oauth/authorize/{uid}': READ,
  '/oauth/interaction/{uid}': BOTH,
  '/oauth/token': WRITE,
  '/oauth/revoke': WRITE,
  '/oauth/introspect': WRITE,
  '/oauth/userinfo': BOTH,
  '/oauth/jwks': READ,
  '/oauth/device_authorization': WRITE,
  '/oauth/device': BOTH,
  '/oauth/device/{uid}': READ,
  '/oauth/logout': READ,
  '/oauth/logout/confirm': WRITE,
  '/oauth/logout/success': READ,
  '/oauth/style.css': READ,
  '/password-reset': BOTH,
});
/** Paths that end with the id of one authorization. */
const WITH_ID = /^(\/oauth\/(?:authorize|interaction|device))\/[\w-]{1,64}$/;

/** Returns the route of a request to the authorization server; undefined for any other request. */
export function matchOAuth(url: string): OAuthRoute | undefined {
  // The common case: a request for the API.
  if (!url.startsWith('/oauth/') && !url.startsWith('/.well-known/') && !url.startsWith('/password-reset')) return undefined;
  const [path = ''] = url.split('?', 1);
  const start = WITH_ID.exec(path)?.[1];
  return ROUTES.get(start === undefined ? path : `${start}/{uid}`);
}

function toMap(methodsByPath: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, OAuthRoute> {
  return new Map(Object.entries(methodsByPath).map(([route, methods]) => [route, { route, methods, isEndpoint: ENDPOINTS.has(route) }]));
}
