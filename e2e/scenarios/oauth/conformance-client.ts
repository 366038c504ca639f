/** The client of the conformance modules: a web application with one registered address, and a browser that logs Ada in. */
import { expect } from '@jest/globals';
import { type RequestParameters as Parameters, VERIFIER, authorizationParameters } from './authorization-request.ts';
import { FormBrowser } from './form-browser.ts';
import { type FormReply, type OAuthSystem, type RegisteredClient, leaseOAuthSystem } from './oauth-system.ts';

/** With https the client is a web application: people allow it once. Nothing listens there. */
export const CALLBACK = 'https://client.example/callback';

type Claims = Readonly<Record<string, unknown>>;

/** What a whole flow gave. */
interface LoggedIn {
  readonly body: FormReply['body'];
  readonly token: string;
  readonly idToken: string;
  readonly claims: Claims;
}

/** A module: what it checks, and what this server does otherwise, if anything. */
export interface Module {
  readonly name: string;
  readonly checks: string;
  /** What OpenID Connect requires and this server does not do. */
  readonly deviation?: string;
  /** What OpenID Connect leaves to the server, and this one does not offer. */
  readonly optional?: string;
  readonly run: (client: ConformanceClient) => Promise<void>;
}

/** Sends requests, each test with a new browser. */
export class ConformanceClient {
  readonly system: OAuthSystem;
  readonly web: RegisteredClient;
  readonly browser: FormBrowser;

  constructor(system: OAuthSystem, web: RegisteredClient) {
    this.system = system;
    this.web = web;
    this.browser = new FormBrowser(system.issuer);
  }

  readonly parametersOf = (changes?: Parameters): URLSearchParams =>
    authorizationParameters(this.web.id, { redirect_uri: CALLBACK, nonce: 'a nonce', ...changes });

  readonly addressOf = (changes?: Parameters): string => `/oauth/authorize?${this.parametersOf(changes).toString()}`;

  /** Logs in where that is asked for, and returns the parameters of the redirect to the client. */
  readonly authorize = async (changes?: Parameters): Promise<URLSearchParams> =>
    (await this.browser.approve(this.addressOf(changes), this.system.ada)).searchParams;

  readonly redeem = (code: string | null, changes: Record<string, string> = {}): Promise<FormReply> => {
    const fields = { grant_type: 'authorization_code', code: code ?? '', redirect_uri: CALLBACK, code_verifier: VERIFIER };
    return this.system.post('/oauth/token', { ...fields, ...changes }, this.web);
  };

  /** Runs the whole flow. */
  readonly logIn = async (changes?: Parameters): Promise<LoggedIn> => {
    const returned = await this.authorize(changes);
    expect([returned.get('state'), returned.get('iss')]).toEqual(['a state', this.system.issuer]);
    const { status, body } = await this.redeem(returned.get('code'));
    expect(status).toBe(200);
    return { body, token: String(body['access_token']), idToken: String(body['id_token']), claims: claimsOf(String(body['id_token'])) };
  };

  readonly userinfo = async (token: string, init: RequestInit = { headers: { authorization: `Bearer ${token}` } }) => {
    const response = await fetch(`${this.system.issuer}/oauth/userinfo`, init);
    return { status: response.status, claims: (await response.json()) as Claims };
  };

  readonly discover = async (): Promise<Claims> =>
    (await (await fetch(`${this.system.issuer}/.well-known/openid-configuration`)).json()) as Claims;

  readonly asksForPassword = (): boolean => this.browser.page?.html.includes('name="password"') === true;

  readonly succeedsWith = async (changes: Parameters): Promise<void> => {
    expect((await this.logIn(changes)).claims).toMatchObject({ sub: this.system.ada.id });
  };
}

/** Returns the claims of a JWT. */
export function claimsOf(token: string): Claims {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Claims;
}

/** Starts the system and registers the client. */
export async function leaseConformanceSystem(): Promise<{ readonly system: OAuthSystem; readonly web: RegisteredClient }> {
  const system = await leaseOAuthSystem();
  const scopes = ['openid', 'profile', 'email', 'offline_access', 'orders:read'];
  const web = await system.register({
    ...{ grantTypes: ['authorization_code', 'refresh_token'], scopes, redirectUris: [CALLBACK], owner: system.ada.id },
  });
  return { system, web };
}
