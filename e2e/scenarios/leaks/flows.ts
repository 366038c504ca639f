/** Uses every way to sign in and every way to fail, with planted secrets and personal data, and keeps what the errors said. */
import { createHash, randomBytes } from 'node:crypto';
import { createApiKey } from '@trestle/identity/credentials/api-keys';
import { type Reply, type RequestOptions, request, until } from '../../stack/clients/client.ts';
import { openEventStream } from '../../stack/clients/event-stream.ts';
import { openSocket } from '../../stack/clients/socket-client.ts';
import { FormBrowser } from '../oauth/form-browser.ts';
import { CALLBACK, type OAuthSystem, type RegisteredClient } from '../oauth/oauth-system.ts';
import { cookieOf } from '../sessions/browser.ts';
import { connectDevice, useSecondFactor } from './factor-flows.ts';
import { ADDRESSES, BIO, CARD, CARD_IN_GROUPS, EMAIL, NEW_EMAIL, NEW_PASSWORD, PASSWORD, Planted, WRONG_PASSWORD } from './planted.ts';

/** Runs flows on a system. */
export class Flows {
  readonly #system: OAuthSystem;
  readonly #gateways: readonly string[];
  readonly planted = new Planted();
  readonly #errors: string[] = [];
  #address = 0;

  /** `gateways` are the addresses of further gateways, which get every invalid operation too. */
  constructor(system: OAuthSystem, gateways: readonly string[] = []) {
    this.#system = system;
    this.#gateways = [system.stack.gateway, ...gateways];
  }

  /** The bodies and headers of all responses from 400 on, and the close reasons of sockets. */
  get errors(): readonly string[] {
    return this.#errors;
  }

  /** Runs all flows, one after the other. */
  async run(): Promise<void> {
    const { token, id } = await this.#session();
    await this.#apiKeys(token);
    await this.#mistakes(token, id);
    await this.#streams(token);
    await this.#oauth();
    const factors = {
      system: this.#system,
      planted: this.planted,
      rest: this.#rest.bind(this),
      form: (path: string, fields: Readonly<Record<string, string>>) => this.#form(fields, undefined, path),
    };
    await connectDevice(factors);
    await useSecondFactor(factors, token);
    await this.#faults(token, id);
  }

  /** Sign-up, failed and successful logins at both transports, refresh, its second use, and a change of password. */
  async #session(): Promise<{ token: string; id: string }> {
    const created = await this.#rest('POST', '/v1/users', { body: { email: EMAIL, name: 'Planted', password: PASSWORD, bio: BIO } });
    const { id } = created.body as { id: string };
    for (const [email, password] of [
      [EMAIL, WRONG_PASSWORD],
      ['planted.nobody@leaks.example', WRONG_PASSWORD],
    ] as const) {
      await this.#rest('POST', '/v1/auth/login', { body: { email, password } });
      await this.#graphql('mutation($e: String!, $p: String!) { login(email: $e, password: $p) { token } }', { e: email, p: password });
      await this.#graphql(`mutation { login(email: "${email}", password: "${password}") { token } }`);
    }
    const login = await this.#until(() => this.#rest('POST', '/v1/auth/login', { body: { email: EMAIL, password: PASSWORD } }));
    const { accessToken } = login.body as { accessToken: string };
    const cookie = cookieOf(login);
    this.planted.plantToken(accessToken);
    this.planted.plant('refresh token', cookie.slice(cookie.indexOf('=') + 1));
    const origin = this.#system.issuer;
    const refreshed = await this.#rest('POST', '/v1/auth/refresh', { headers: { cookie, origin } });
    this.planted.plant('refresh token', cookieOf(refreshed).slice(cookie.indexOf('=') + 1));
    this.planted.plantToken((refreshed.body as { accessToken: string }).accessToken);
    // A second use, and a cookie that was never issued.
    await this.#rest('POST', '/v1/auth/refresh', { headers: { cookie, origin } });
    await this.#rest('POST', '/v1/auth/refresh', { headers: { cookie: `${cookie}x`, origin: 'https://elsewhere.example' } });
    return { token: accessToken, id };
  }

  /** Keys in every place, unknown, revoked and not allowed in a URL. */
  async #apiKeys(token: string): Promise<void> {
    const create = async (isAllowedInUrl: boolean) => {
      const made = await this.#rest('POST', '/v1/api-keys', { token, body: { name: 'Planted', isAllowedInUrl } });
      const { secret, apiKey } = made.body as { secret: string; apiKey: { id: string } };
      this.planted.plant('API key', secret, secret.slice('trestle_live_'.length));
      return { secret, id: apiKey.id };
    };
    const [plain, inUrl] = [await create(false), await create(true)];
    const unknown = createApiKey();
    this.planted.plant('API key', unknown);
    for (const secret of [plain.secret, inUrl.secret, unknown]) {
      await this.#rest('GET', '/v1/orders', { headers: { 'x-api-key': secret } });
      await this.#rest('GET', '/v1/orders', { headers: { authorization: `ApiKey ${secret}` } });
      await this.#rest('GET', `/v1/orders?apiKey=${secret}`);
      await this.#rest('POST', `/v1/posts?apiKey=${secret}`, { body: { title: 'Planted' } });
      await this.#send(`${this.#system.stack.gateway}/graphql?query=%7Bme%7Bid%7D%7D&apiKey=${secret}`, { method: 'GET' });
      await this.#rest('GET', `/v1/nothing/${secret}`);
    }
    await this.#rest('DELETE', `/v1/api-keys/${plain.id}`, { token });
    await this.#rest('GET', '/v1/orders', { headers: { 'x-api-key': plain.secret } });
  }

  /** Requests that are refused, with secrets where they do not belong. */
  async #mistakes(token: string, id: string): Promise<void> {
    const secrets = { password: PASSWORD, token, card: CARD, email: EMAIL };
    for (const value of Object.values(secrets)) {
      await this.#rest('GET', `/v1/users/${encodeURIComponent(value)}`);
      await this.#rest('GET', `/v1/users?bio=${encodeURIComponent(value)}&limit=${encodeURIComponent(value)}`);
      await this.#rest('GET', `/v1/products?category=${encodeURIComponent(value)}&minPrice=${encodeURIComponent(value)}`);
      await this.#rest('PATCH', `/v1/users/${id}`, { token, body: { age: value, isActive: value, role: value } });
      await this.#rest('POST', '/v1/users', { body: `{"email":"${value}","password":"${value}", broken` });
      await this.#rest('POST', '/v1/users', { body: { email: `${value}@@x`, name: '', password: 'short', age: value } });
      await this.#rest('POST', '/v1/payments', {
        token,
        body: { amount: value, currency: value },
        headers: { 'idempotency-key': 'k'.repeat(40) },
      });
      await this.#rest('GET', '/v1/orders', { headers: { authorization: `Bearer ${value}` } });
      await this.#rest('GET', '/v1/orders', { token, headers: { 'x-request-id': value, 'if-none-match': value, 'x-api-key': value } });
      for (const [query, variables] of [
        [`{ user(id: "${value}") { id nothing } }`, {}],
        [`mutation { createUser(input: { email: "${value}", password: { planted: "${value}" } }) { id } }`, {}],
        [`mutation { login(email: "a" "${value}") { token } }`, {}],
        ['query($id: Int!) { node(id: $id) { id } }', { id: value }],
        ['query($first: Int) { users(limit: $first) { id } }', { first: value }],
        ['mutation($i: CreateUserInput!) { createUser(input: $i) { id } }', { i: { email: value, password: { value } } }],
      ] as const)
        for (const gateway of this.#gateways)
          await this.#send(`${gateway}/graphql`, { method: 'POST', body: { query, variables }, token: undefined });
    }
    // The address is in use.
    await this.#rest('POST', '/v1/users', { body: { email: EMAIL, name: 'Twice', password: PASSWORD } });
    await this.#rest('PATCH', `/v1/users/${id}`, { token, body: { email: NEW_EMAIL, currentPassword: WRONG_PASSWORD } });
    await this.#rest('POST', '/v1/auth/password', { token, body: { currentPassword: WRONG_PASSWORD, newPassword: NEW_PASSWORD } });
    await this.#rest('GET', '/v1/orders', { headers: { authorization: `Bearer ${token}${'x'.repeat(17_000)}` } });
    await this.#rest('GET', '/v1/orders', { headers: { authorization: `Bearer ${token.slice(0, -2)}` } });
  }

  /** Sockets and event streams with good and bad credentials. */
  async #streams(token: string): Promise<void> {
    const url = `${this.#system.stack.gateway}/graphql`;
    const good = await openSocket(url, { init: { authorization: `Bearer ${token}` } });
    good.send({ id: '1', type: 'subscribe', payload: { query: `{ user(id: "${CARD}") { id } me { email } }` } });
    await good.next(({ type }) => type === 'next');
    await good.close();
    for (const authorization of [`Bearer ${token}x`, `ApiKey ${createApiKey()}`]) {
      const bad = await openSocket(url, { init: null });
      bad.send({ type: 'connection_init', payload: { authorization, password: PASSWORD } });
      this.#errors.push((await bad.closed).reason);
    }
    const stream = await openEventStream(url, {
      query: `subscription { messageAdded(channelId: "${CARD}") { id } }`,
      headers: { authorization: `Bearer ${token}` },
    });
    stream.close();
  }

  /** The authorization code flow with a wrong password first, and refused token requests. */
  async #oauth(): Promise<void> {
    const { issuer, ada } = this.#system;
    const client = await this.#system.register({
      grantTypes: ['authorization_code', 'refresh_token', 'client_credentials'],
      scopes: ['openid', 'email', 'offline_access', 'orders:read'],
      redirectUris: [CALLBACK],
      owner: ada.id,
    });
    this.planted.plant('client secret', client.secret);
    const verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(verifier).digest('base64url');
    const parameters = {
      client_id: client.id,
      response_type: 'code',
      redirect_uri: CALLBACK,
      scope: 'openid email offline_access',
      prompt: 'consent',
    };
    const search = new URLSearchParams({ ...parameters, state: 'planted-state', code_challenge: challenge, code_challenge_method: 'S256' });
    const browser = new FormBrowser(issuer);
    await browser.open(`/oauth/authorize?${search.toString()}`);
    await browser.submit({ email: EMAIL, password: WRONG_PASSWORD, action: 'login' });
    const returned = await browser.approve(`/oauth/authorize?${search.toString()}`, { email: EMAIL, password: PASSWORD });
    const code = returned.searchParams.get('code') ?? '';
    this.planted.plant('code', code, verifier);
    const exchange = { grant_type: 'authorization_code', code, redirect_uri: CALLBACK };
    await this.#form({ ...exchange, code_verifier: 'x'.repeat(43) }, { ...client, secret: `${client.secret}x` });
    const { body } = await this.#form({ ...exchange, code_verifier: verifier }, client);
    const tokens = body as { access_token?: string; refresh_token?: string; id_token?: string };
    for (const token of [tokens.access_token, tokens.id_token]) if (token !== undefined) this.planted.plantToken(token);
    if (tokens.refresh_token !== undefined) this.planted.plant('refresh token', tokens.refresh_token);
    const refresh = { grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' };
    for (let i = 0; i < 2; i++) await this.#form(refresh, client);
    await this.#form(exchange, client);
    await this.#form({ grant_type: 'client_credentials', scope: 'orders:read' }, client);
  }

  /** Faults of the database while secrets are written: what it reports contains the values of the statement. */
  async #faults(token: string, id: string): Promise<void> {
    const { stack } = this.#system;
    await stack.sql('users', `ALTER TABLE users ADD CONSTRAINT planted CHECK (bio NOT LIKE '%fault%') NOT VALID`);
    await this.#rest('PATCH', `/v1/users/${id}`, { token, body: { bio: `fault ${CARD_IN_GROUPS}`, name: CARD } });
    await this.#rest('POST', '/v1/users', { body: { email: NEW_EMAIL, name: CARD, password: NEW_PASSWORD, bio: `fault ${CARD}` } });
    await stack.sql('users', 'ALTER TABLE users DROP CONSTRAINT planted');
    await stack.sql('users', 'ALTER TABLE sessions RENAME TO sessions_away');
    await this.#rest('POST', '/v1/auth/login', { body: { email: EMAIL, password: PASSWORD } });
    await stack.sql('users', 'ALTER TABLE sessions_away RENAME TO sessions');
    await stack.kill('content');
    await this.#graphql('mutation($i: CreatePostInput!) { createPost(input: $i) { id } }', { i: { title: CARD, body: BIO } }, token);
    await this.#rest('POST', '/v1/posts', { token, body: { title: CARD, body: BIO } });
    await stack.revive('content');
  }

  #rest(method: string, path: string, options: Omit<RequestOptions, 'method'> = {}): Promise<Reply> {
    return this.#send(`${this.#system.stack.rest}${path}`, { method, ...options });
  }

  #graphql(query: string, variables?: object, token?: string): Promise<Reply> {
    return this.#send(`${this.#system.stack.gateway}/graphql`, { method: 'POST', body: { query, variables }, token });
  }

  async #send(url: string, options: RequestOptions): Promise<Reply> {
    const address = ADDRESSES[this.#address++ % ADDRESSES.length] ?? '';
    const reply = await request(url, { ...options, headers: { 'x-forwarded-for': address, ...options.headers } });
    if (reply.status >= 400 || reply.text.includes('"errors"')) this.#errors.push(reply.text, JSON.stringify([...reply.headers]));
    return reply;
  }

  async #form(fields: Readonly<Record<string, string>>, client?: RegisteredClient, path = '/oauth/token') {
    const reply = await this.#system.post(path, fields, client);
    if (reply.status >= 400) this.#errors.push(JSON.stringify([reply.body, ...reply.headers]));
    return reply;
  }

  /** Repeats a login that is delayed after failures. */
  async #until(act: () => Promise<Reply>): Promise<Reply> {
    let reply = await act();
    await until(async () => {
      if (reply.status === 429) reply = await act();
      return reply.status !== 429;
    });
    return reply;
  }
}
