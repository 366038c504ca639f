/** The pages of login and consent: `GET` shows what the library asks for, `POST` answers it. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Fault } from '@trestle/schema/errors';
import { type Provider, errors } from 'oidc-provider';
import type { LoginProof } from '../second-factor/second-factors.ts';
import type { AccountClaims } from './configuration.ts';
import { sendPage } from './page-response.ts';
import { PASSKEY_SCRIPT, codePage } from './pages/code-page.ts';
import { consentPage } from './pages/consent-page.ts';
import { errorPage } from './pages/error-page.ts';
import { loginPage } from './pages/login-page.ts';
import { FormError, readForm } from './requests.ts';
import { OAUTH_SCOPES, describeScope } from './scopes.ts';

/** The state of one authorization, as the library keeps it. */
type Interaction = Awaited<ReturnType<Provider['interactionDetails']>>;

/** What the pages work with. */
export interface InteractionOptions {
  readonly provider: Provider;
  /** Signs the hidden field that protects the forms. */
  readonly csrfKey: string;
  /** The origin of the pages. */
  readonly origin: string;
  /** Checks a password, with the delays and limits of every login. Resolves with the account's id; rejects with a Fault. */
  readonly authenticate: (credentials: Credentials) => Promise<string>;
  /** Checks the code of a second factor, which a Fault of `authenticate` has demanded, in the same way. */
  readonly completeLogin: (proof: LoginProof & { readonly request: IncomingMessage }) => Promise<string>;
  readonly findAccount: (id: string) => Promise<AccountClaims | undefined>;
}

/** What a person entered on the login page. */
export interface Credentials {
  readonly email: string;
  readonly password: string;
  readonly request: IncomingMessage;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly interaction: Interaction;
}

/** Creates the handler of `/oauth/interaction/{uid}`. */
export function createInteractions(options: InteractionOptions): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  return async (request, response) => {
    try {
      const interaction = await findInteraction(options, request, response);
      const exchange = { request, response, interaction };
      if (request.method === 'POST') await answer(options, exchange);
      else await show(options, exchange);
    } catch (error) {
      sendFailure(response, error);
    }
  };
}

/** Finds the interaction of the cookie. Throws when it is that of another address, or of another browser session. */
async function findInteraction({ provider }: InteractionOptions, request: IncomingMessage, response: ServerResponse): Promise<Interaction> {
  const interaction = await provider.interactionDetails(request, response);
  if (interaction.uid !== (request.url ?? '').split('?', 1)[0]?.split('/').at(-1)) throw new errors.SessionNotFound('interaction mismatch');
  const owner = interaction.session?.uid;
  if (owner !== undefined) {
    // Without the session's own cookie a stolen cookie of the interaction could answer for the person who is logged in.
    const session = await provider.Session.get(provider.createContext(request, response));
    if (session.uid !== owner) throw new errors.SessionNotFound('session mismatch');
  }
  return interaction;
}

async function show(options: InteractionOptions, exchange: Exchange, failure?: LoginFailure): Promise<void> {
  const { interaction, response } = exchange;
  const { prompt, params } = interaction;
  const client = await options.provider.Client.find(String(params['client_id']));
  const clientName = client?.clientName ?? client?.clientId ?? '';
  const redirect = interaction.deviceCode === undefined ? params['redirect_uri'] : undefined;
  const destinations = typeof redirect === 'string' ? [redirect] : [];
  const csrf = toCsrf(options, interaction);
  if (prompt.name === 'login') {
    const hint = params['login_hint'];
    const email = failure?.email ?? (typeof hint === 'string' ? hint.slice(0, 320) : undefined);
    const fault = failure?.message;
    const html = failure?.challenge === undefined ? loginPage({ clientName, csrf, email, fault }) : codePage({ csrf, ...failure, fault });
    const script = failure?.passkey && PASSKEY_SCRIPT;
    sendPage(response, { status: failure?.status ?? 200, html, destinations, script, ...(failure && { headers: failure.headers }) });
    return;
  }
  const account = await options.findAccount(interaction.session?.accountId ?? '');
  if (!account) throw new errors.SessionNotFound('no account');
  const permissions = requestedScopes(interaction).map(describeScope);
  const destination = destinations[0] === undefined ? undefined : toDestination(destinations[0]);
  sendPage(response, { html: consentPage({ clientName, accountName: account.name, csrf, permissions, destination }), destinations });
}

async function answer(options: InteractionOptions, exchange: Exchange): Promise<void> {
  const { request, response, interaction } = exchange;
  const form = await readForm(request);
  requireOwnForm(options, exchange, form);
  const { provider } = options;
  const action = form.get('action');
  if (action === 'deny') {
    const denial = { error: 'access_denied', error_description: 'the request was denied' };
    await provider.interactionFinished(request, response, denial, { mergeWithLastSubmission: false });
  } else if (action === 'login' && interaction.prompt.name === 'login') {
    await logIn(options, exchange, form);
  } else if (action === 'approve' && interaction.prompt.name === 'consent') {
    const consent = { grantId: await extendGrant(provider, interaction) };
    await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
  } else {
    await show(options, exchange);
  }
}

interface LoginFailure {
  readonly email: string;
  /** Undefined when nothing is wrong, but a second factor is needed. */
  readonly message: string | undefined;
  /** Set when a second factor is needed. */
  readonly challenge: string | undefined;
  /** Set when it may be a passkey: what the browser signs. */
  readonly passkey: object | undefined;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

async function logIn(options: InteractionOptions, exchange: Exchange, form: URLSearchParams): Promise<void> {
  const { request, response, interaction } = exchange;
  const { provider } = options;
  const entered = { email: form.get('email') ?? '', challenge: form.get('challenge') ?? undefined };
  const { email, challenge } = entered;
  let accountId: string;
  try {
    accountId =
      challenge === undefined
        ? await options.authenticate({ email, password: form.get('password') ?? '', request })
        : await options.completeLogin({ challenge, ...readProof(form), request });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    await show(options, exchange, toLoginFailure(error, entered));
    return;
  }
  if (interaction.session && interaction.session.accountId !== accountId) {
    // Another person was logged in here: that session ends, or the library would send a form by a script to end it.
    const session = await provider.Session.get(provider.createContext(request, response));
    await session.destroy();
    Object.assign(interaction, { session: undefined });
    await interaction.persist();
  }
  await provider.interactionFinished(request, response, { login: { accountId, remember: true } }, { mergeWithLastSubmission: false });
}

/** Returns the code or the passkey of a form. A passkey that is not a JSON object becomes an empty one, which is refused like any unknown passkey. */
function readProof(form: URLSearchParams): Pick<LoginProof, 'code' | 'passkey'> {
  const sent = form.get('passkey');
  if (sent === null) return { code: form.get('code') ?? '' };
  try {
    const passkey: unknown = JSON.parse(sent);
    return { passkey: typeof passkey === 'object' && passkey !== null ? passkey : {} };
  } catch {
    return { passkey: {} };
  }
}

/** After a challenge that is not valid any more the login begins again. */
function toLoginFailure(fault: Fault, { email, challenge }: Pick<LoginFailure, 'email' | 'challenge'>): LoginFailure {
  const { retryAfterSeconds, message, secondFactor, code } = fault;
  const next = code === 'UNAUTHORIZED' ? secondFactor?.challenge : challenge;
  const passkey = secondFactor?.passkey;
  if (retryAfterSeconds !== undefined) {
    const status = code === 'RATE_LIMIT_EXCEEDED' ? 429 : 503;
    return { email, message, challenge: next, passkey, status, headers: { 'retry-after': String(retryAfterSeconds) } };
  }
  const isFirst = challenge === undefined && next !== undefined;
  return { email, message: isFirst ? undefined : message, challenge: next, passkey, status: isFirst ? 200 : 422, headers: {} };
}

/** Adds what was asked for to the grant of this client and browser session, or to a new one. Returns the grant's id. */
async function extendGrant(provider: Provider, { grantId, session, params }: Interaction): Promise<string> {
  const known = grantId === undefined ? undefined : await provider.Grant.find(grantId);
  const accountId = session?.accountId;
  if (accountId === undefined) throw new errors.SessionNotFound('no account');
  const grant = known ?? new provider.Grant({ accountId, clientId: String(params['client_id']) });
  const scopes = requestedScopes({ params });
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(' '));
  return grant.save();
}

function requestedScopes({ params }: Pick<Interaction, 'params'>): string[] {
  const { scope } = params;
  const requested = new Set(typeof scope === 'string' ? scope.split(' ') : []);
  return OAUTH_SCOPES.filter((scope) => requested.has(scope));
}

/** Throws unless the form is one that this server has sent for this interaction (RFC 9700 §4.7). */
function requireOwnForm({ csrfKey, origin }: InteractionOptions, { request, interaction }: Exchange, form: URLSearchParams): void {
  const { origin: sender, 'sec-fetch-site': site } = request.headers;
  const isForeign = (sender !== undefined && sender !== origin) || site === 'cross-site';
  const expected = Buffer.from(toCsrf({ csrfKey }, interaction));
  const given = Buffer.from(form.get('csrf') ?? '');
  if (isForeign || given.length !== expected.length || !timingSafeEqual(given, expected))
    throw new errors.AccessDenied('the form was not sent by this server');
}

function toCsrf({ csrfKey }: Pick<InteractionOptions, 'csrfKey'>, { uid, prompt }: Pick<Interaction, 'uid' | 'prompt'>): string {
  return createHmac('sha256', csrfKey).update(`${prompt.name} ${uid}`).digest('base64url');
}

function toDestination(redirect: string): string {
  const { protocol, host } = new URL(redirect);
  return protocol === 'http:' || protocol === 'https:' ? host : `an application on this device (${protocol})`;
}

function sendFailure(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (error instanceof FormError) {
    sendPage(response, { status: error.status, html: errorPage({ code: 'invalid_request', description: error.message }) });
  } else if (error instanceof errors.OIDCProviderError) {
    const isDenied = error instanceof errors.AccessDenied;
    const description = isDenied ? 'the form was not sent by this server' : 'the request has expired or belongs to another browser';
    sendPage(response, { status: isDenied ? 403 : 400, html: errorPage({ code: error.message, description }) });
  } else throw error;
}
