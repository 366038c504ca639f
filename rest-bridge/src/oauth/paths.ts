/** The paths of the authorization server, which the bridge passes on to the users subgraph (RFC 6749 §3, RFC 8414 §3). No I/O. */

const PATHS: ReadonlySet<string> = new Set([
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth/authorize',
  '/oauth/token',
  '/oauth/revoke',
  '/oauth/introspect',
  '/oauth/userinfo',
  '/oauth/jwks',
  '/oauth/device_authorization',
  '/oauth/device',
  '/oauth/logout',
  '/oauth/logout/confirm',
  '/oauth/logout/success',
  '/oauth/style.css',
]);
/** Paths that end with the id of one authorization, and how logs and metrics name them. */
const WITH_ID = /^(\/oauth\/(?:authorize|interaction|device))\/[\w-]{1,64}$/;

/** Returns the path of a request to the authorization server, with `{uid}` in the place of an id; undefined for any other request. */
export function toOAuthRoute(url: string): string | undefined {
  const [path = ''] = url.split('?', 1);
  if (PATHS.has(path)) return path;
  const start = WITH_ID.exec(path)?.[1];
  return start === undefined ? undefined : `${start}/{uid}`;
}
