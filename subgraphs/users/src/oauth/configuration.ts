/** The configuration of oidc-provider: which flows there are, how long what lasts, and what its pages show. */
import type { IncomingMessage } from 'node:http';
import { type Configuration, type JWKS, type KoaContextWithOIDC, interactionPolicy } from 'oidc-provider';
import type { AccessTokens } from './access-tokens.ts';
import { deviceConfirmPage, deviceDonePage, deviceInputPage } from './pages/device-pages.ts';
import { errorPage } from './pages/error-page.ts';
import { loggedOutPage, logoutPage } from './pages/logout-pages.ts';
import { OAUTH_SCOPES } from './scopes.ts';

/** The paths of the server; the bridge passes exactly these on (`rest-bridge/src/oauth/paths.ts`). */
export const PATHS = {
  authorization: '/oauth/authorize',
  token: '/oauth/token',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  userinfo: '/oauth/userinfo',
  jwks: '/oauth/jwks',
  device_authorization: '/oauth/device_authorization',
  code_verification: '/oauth/device',
  end_session: '/oauth/logout',
} as const;

/** Where the pages of login and consent are; the id of the interaction follows. */
export const INTERACTION_PATH = '/oauth/interaction/';
/** Where the style sheet of all pages is. */
export const STYLE_PATH = '/oauth/style.css';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The claims of an account (OpenID Connect Core §5.1). */
export interface AccountClaims {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly updatedAt: Date;
}

/** What the configuration is made from. */
export interface ConfigurationOptions {
  readonly issuer: string;
  /** The private key that signs ID tokens. */
  readonly keys: JWKS;
  /** Signs the cookies. */
  readonly cookieKeys: readonly string[];
  readonly accessTokens: Pick<AccessTokens, 'issue'>;
  readonly adapter: NonNullable<Configuration['adapter']>;
  /** Resolves with an active account; undefined without one. */
  readonly findAccount: (id: string) => Promise<AccountClaims | undefined>;
  /** Called when a browser sent a user code that does not exist. */
  readonly onWrongUserCode: (request: IncomingMessage) => void;
}

/** Returns the configuration. Everything that is not switched on here is off. */
export function createConfiguration(options: ConfigurationOptions): Configuration {
  const { keys, adapter, accessTokens, findAccount, onWrongUserCode } = options;
  return {
    adapter,
    jwks: keys,
    cookies: toCookies(options),
    routes: PATHS,
    scopes: [...OAUTH_SCOPES],
    claims: { openid: ['sub'], profile: ['name', 'updated_at'], email: ['email', 'email_verified'] },
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    clientDefaults: { grant_types: ['authorization_code'], id_token_signed_response_alg: 'ES256', response_types: ['code'] },
    enabledJWA: { idTokenSigningAlgValues: ['ES256'], userinfoSigningAlgValues: ['ES256'] },
    pkce: { required: () => true },
    features: createFeatures(onWrongUserCode),
    ttl: createLifetimes(),
    // Each client that may refresh gets a refresh token: people need not be asked for `offline_access` apart.
    issueRefreshToken: (_, client) => client.grantTypeAllowed('refresh_token'),
    expiresWithSession: () => false,
    rotateRefreshToken: () => true,
    revokeGrantPolicy: () => true,
    allowOmittingSingleRegisteredRedirectUri: false,
    extraTokenClaims: async (ctx, token) => {
      await accessTokens.issue(token, (ctx.oidc.body as { scope?: unknown } | undefined)?.scope);
      return undefined;
    },
    findAccount: async (_, id) => toAccount(await findAccount(id)),
    interactions: { policy: interactionPolicy.base(), url: (_, { uid }) => `${INTERACTION_PATH}${uid}` },
    // The bridge decides which origins may read a response, for all of its paths alike.
    clientBasedCORS: () => true,
    renderError: (ctx, { error, error_description: description }) => {
      ctx.type = 'html';
      ctx.body = errorPage({ code: error, description });
    },
  };
}

/** With HTTPS the prefixes keep other hosts of the domain from setting the cookies (RFC 6265bis §4.1.3). */
function toCookies({ issuer, cookieKeys }: ConfigurationOptions): NonNullable<Configuration['cookies']> {
  const isSecure = issuer.startsWith('https:');
  const toName = (name: string, prefix: string) => `${isSecure ? prefix : ''}trestle-oauth-${name}`;
  const attributes = { httpOnly: true, sameSite: 'lax', signed: true, secure: isSecure } as const;
  return {
    names: {
      session: toName('session', '__Host-'),
      interaction: toName('interaction', '__Secure-'),
      resume: toName('resume', '__Secure-'),
    },
    keys: [...cookieKeys],
    long: attributes,
    short: attributes,
  };
}

function createFeatures(onWrongUserCode: ConfigurationOptions['onWrongUserCode']): NonNullable<Configuration['features']> {
  return {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    deviceFlow: {
      enabled: true,
      charset: 'base-20',
      mask: '****-****',
      deviceInfo: () => ({}),
      userCodeInputSource: (...[ctx, , out, error]) => {
        if (error?.name === 'NotFoundError') onWrongUserCode(ctx.req);
        ctx.body = deviceInputPage({ ...toDeviceForm(ctx), fault: out && toDeviceFault(error) });
      },
      userCodeConfirmSource: (...[ctx, , client, , userCode]) => {
        ctx.body = deviceConfirmPage({ ...toDeviceForm(ctx), clientName: client.clientName ?? client.clientId, userCode });
      },
      successSource: (ctx) => {
        ctx.body = deviceDonePage(ctx.oidc.client?.clientName ?? '');
      },
    },
    revocation: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
    introspection: {
      enabled: true,
      // A client learns about its own tokens only, and a public client about none: anyone can send its id (RFC 7662 §2.1).
      allowedPolicy: (_, client, token) => client.clientAuthMethod !== 'none' && token.clientId === client.clientId,
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: (ctx) => {
        ctx.body = logoutPage({ action: ctx.oidc.urlFor('end_session_confirm'), xsrf: secretOf(ctx) });
      },
      postLogoutSuccessSource: (ctx) => {
        ctx.body = loggedOutPage();
      },
    },
    userinfo: { enabled: true },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    resourceIndicators: { enabled: false },
  };
}

function createLifetimes(): NonNullable<Configuration['ttl']> {
  return {
    // Not sent: the JWT has the lifetime of all access tokens.
    AccessToken: 15 * MINUTE,
    ClientCredentials: 15 * MINUTE,
    AuthorizationCode: MINUTE,
    DeviceCode: 10 * MINUTE,
    // Less than the time for which a replaced key is published.
    IdToken: 15 * MINUTE,
    Interaction: 10 * MINUTE,
    RefreshToken: 14 * DAY,
    Grant: 90 * DAY,
    // One without an account holds only what protects a form.
    Session: (_, session) => (session.accountId === undefined ? 10 * MINUTE : DAY),
  };
}

function toAccount(account: AccountClaims | undefined) {
  if (!account) return undefined;
  const { id, name, email, updatedAt } = account;
  return {
    accountId: id,
    // Nothing has verified the address.
    claims: () => ({ sub: id, name, email, email_verified: false, updated_at: Math.floor(updatedAt.getTime() / 1000) }),
  };
}

/** The library's own secret against forged forms, which it keeps in the session. */
function secretOf(ctx: KoaContextWithOIDC): string {
  const { state } = (ctx.oidc.session ?? {}) as { state?: { secret?: string } };
  return state?.secret ?? '';
}

/** Returns what the forms of the device pages send. */
export function toDeviceForm(ctx: KoaContextWithOIDC): { readonly action: string; readonly xsrf: string } {
  return { action: ctx.oidc.urlFor('code_verification'), xsrf: secretOf(ctx) };
}

function toDeviceFault(error: (Error & { readonly userCode?: string }) | undefined): string {
  if (error?.name === 'AbortedError') return 'The request was denied. Nothing was given access.';
  if (error?.name === 'NoCodeError') return 'Enter the code that your device shows.';
  if (error?.userCode !== undefined || error?.name === 'NotFoundError') {
    return 'The code is wrong, has expired or was used already. Check it, or start again on your device.';
  }
  return 'The form has expired. Enter the code again.';
}
