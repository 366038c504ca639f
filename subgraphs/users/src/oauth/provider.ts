/** The authorization server: oidc-provider, and middleware for what it does not do. */
import { timingSafeEqual } from 'node:crypto';
import type { PublicJwk } from '@trestle/identity/tokens/key-set';
import type { Log } from '@trestle/log';
import { type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { POLL_INTERVAL_SECONDS } from './adapter.ts';
import type { AccessTokens } from './access-tokens.ts';
import { hashClientSecret } from './client-store.ts';
import { type ConfigurationOptions, createConfiguration, toDeviceForm } from './configuration.ts';
import { toPageHeaders } from './page-response.ts';
import { deviceInputPage } from './pages/device-pages.ts';
import { continuePage } from './pages/logout-pages.ts';

/** What the server is created from. */
export interface ProviderOptions extends ConfigurationOptions {
  readonly accessTokens: AccessTokens;
  /** Returns the keys to publish. */
  readonly publicKeys: () => readonly PublicJwk[];
  readonly log: Log;
}

/** What is used of the library's context; it has no `oidc` for a path that the library does not know. */
interface Context {
  readonly oidc?: KoaContextWithOIDC['oidc'];
  readonly status: number;
  readonly type: string;
  body: unknown;
  set(headers: Record<string, string>): void;
}

/** Creates the server. It serves the paths of `PATHS` and `/.well-known/`. */
export function createProvider(options: ProviderOptions): Provider {
  const { accessTokens, publicKeys, log } = options;
  const provider = new Provider(options.issuer, createConfiguration(options));
  // `setIssuer` writes these headers, whatever was received.
  provider.proxy = true;
  provider.silent = true;
  compareHashedSecrets(provider);
  provider.on('server_error', (_, error) => {
    log.error('oauth request failed', { error });
  });
  provider.use(async (context, next) => {
    await next();
    const ctx = context as unknown as Context;
    if (ctx.status === 200 && ctx.oidc?.route === 'token') setAccessToken(ctx, accessTokens);
    if (ctx.oidc?.route === 'token') {
      // Beside `Cache-Control` (RFC 6749 §5.1).
      ctx.set({ pragma: 'no-cache' });
      correctGrantError(ctx);
    }
    if (ctx.status === 200 && ctx.oidc?.route === 'device_authorization')
      Object.assign(ctx.body as object, { interval: POLL_INTERVAL_SECONDS });
    if (ctx.oidc?.route === 'discovery') describeModes(ctx);
    if (ctx.status === 200) allowCaching(ctx);
    // The library knows the key that signs now only.
    if (ctx.status === 200 && ctx.oidc?.route === 'jwks') ctx.body = { keys: publicKeys() };
    if (typeof ctx.body === 'string' && ctx.type === 'text/html') finishPage(ctx, ctx.body);
  });
  return provider;
}

/** Stored are hashes of the secrets, which the library would compare with the secrets themselves. */
function compareHashedSecrets(provider: Provider): void {
  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: { readonly clientSecret?: string }, secret: unknown): boolean {
      const stored = Buffer.from(this.clientSecret ?? '', 'hex');
      const given = hashClientSecret(typeof secret === 'string' ? secret : '');
      return stored.length === given.length && timingSafeEqual(stored, given);
    },
  });
}

/** Puts the JWT in the place of the library's token. */
function setAccessToken(ctx: Context, accessTokens: AccessTokens): void {
  const { AccessToken, ClientCredentials } = ctx.oidc?.entities ?? {};
  const issued = accessTokens.issued(AccessToken ?? ClientCredentials);
  if (!issued) throw new Error('The token endpoint issued no access token');
  Object.assign(ctx.body as object, { access_token: issued.token, expires_in: issued.expiresInSeconds, scope: issued.scope });
}

/** The library calls this `invalid_request` (RFC 6749 §5.2). */
function correctGrantError(ctx: Context): void {
  const body = ctx.body as { error?: string; error_description?: string } | undefined;
  if (body?.error_description === 'requested grant type is not allowed for this client') body.error = 'unauthorized_client';
}

/** How long anyone may keep what is the same for all, by its route. Keys: less than what a rotation with `--delay 300` waits before it signs. */
const LIFETIMES: Readonly<Record<string, string>> = {
  discovery: 'public, max-age=3600',
  jwks: 'public, max-age=60, stale-if-error=3600',
};

/** The library sends `Cache-Control` with responses that must not be stored only. */
function allowCaching(ctx: Context): void {
  const lifetime = LIFETIMES[ctx.oidc?.route ?? ''];
  if (lifetime !== undefined) ctx.set({ 'cache-control': lifetime });
}

/** The mode `form_post` is served, with a button instead of a script, and is not advertised. */
function describeModes(ctx: Context): void {
  Object.assign(ctx.body as object, { response_modes_supported: ['query'] });
}

const AUTO_SUBMIT = '<title>Submitting Callback</title>';
const FORM_ACTION = /<form method="post" action="([^"]*)">/;
const FORM_FIELD = /<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g;

/** Replaces the library's pages that send a form by a script, and sets the headers of every page. */
function finishPage(ctx: Context, body: string): void {
  let destination: string | undefined;
  if (body.includes(AUTO_SUBMIT)) {
    destination = unescapeHtml(FORM_ACTION.exec(body)?.[1] ?? '');
    const fields = new Map([...body.matchAll(FORM_FIELD)].map(([, name = '', value = '']) => [name, unescapeHtml(value)]));
    ctx.body = ctx.oidc?.route === 'code_verification' ? toDevicePage(ctx, fields) : continuePage({ action: destination, fields });
  }
  ctx.set({ ...toPageHeaders(destination === undefined ? [] : [destination]) });
}

function toDevicePage(ctx: Context, fields: ReadonlyMap<string, string>): string {
  return deviceInputPage({ ...toDeviceForm(ctx as unknown as KoaContextWithOIDC), userCode: fields.get('user_code')?.slice(0, 32) ?? '' });
}

const CHARACTERS: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&#x27;': "'" };

function unescapeHtml(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39|#x27);/g, (entity) => CHARACTERS[entity] ?? entity);
}
