/** Routes of sessions: login, refresh, logout, and their list (contract §4). */
import { SESSION, USER } from '../resources/resources.ts';
import { getList } from './route-kinds.ts';
import type { ResponseBuilder, Route } from './route.ts';

const toTokenResponse: ResponseBuilder = (result, represent) => {
  const { token, expiresIn, user } = result as { token: string; expiresIn: number; user: unknown };
  return { status: 200, body: { accessToken: token, tokenType: 'Bearer', expiresIn, user: represent(user).body } };
};

/** The routes under `/auth` and `/sessions`. */
export const authRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/auth/login',
    operation: 'Login',
    resource: USER,
    summary: 'Returns an access token for an e-mail address and its password, and sets the refresh cookie',
    needsCaller: false,
    ignoresCredential: true,
    isOfSession: true,
    // A login changes nothing, and its token must not be stored.
    idempotency: 'ignored',
    input: { kind: 'arguments', mutation: 'login' },
    success: { status: 200, content: 'login' },
    toResponse: toTokenResponse,
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/login/second-factor',
    operation: 'CompleteLogin',
    resource: USER,
    summary: 'Completes a login with the code of a second factor',
    needsCaller: false,
    ignoresCredential: true,
    isOfSession: true,
    idempotency: 'ignored',
    input: { kind: 'arguments', mutation: 'completeLogin' },
    success: { status: 200, content: 'login' },
    toResponse: toTokenResponse,
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/refresh',
    operation: 'RefreshSession',
    resource: USER,
    summary: 'Exchanges the refresh cookie for a new one and an access token; requires `Origin` with an allowed origin',
    needsCaller: false,
    ignoresCredential: true,
    isOfSession: true,
    idempotency: 'ignored',
    input: { kind: 'path' },
    success: { status: 200, content: 'login' },
    toResponse: toTokenResponse,
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/logout',
    operation: 'Logout',
    resource: USER,
    summary: 'Ends the session of the access token, closes its subscriptions and removes the refresh cookie',
    needsCaller: true,
    isOfSession: true,
    idempotency: 'ignored',
    input: {
      kind: 'path',
      flags: { everywhere: 'Whether to end all sessions of the account, and to revoke every token that was issued to it.' },
    },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/password',
    operation: 'ChangePassword',
    resource: USER,
    summary: 'Sets a new password, ends the other sessions, and returns a new access token',
    needsCaller: true,
    isOfSession: true,
    idempotency: 'ignored',
    input: { kind: 'arguments', mutation: 'changePassword' },
    success: { status: 200, content: 'login' },
    toResponse: toTokenResponse,
    spec: 'contract §4',
  },
  getList({
    path: '/sessions',
    operation: 'ListSessions',
    resource: SESSION,
    summary: 'Lists the sessions of the caller, newest first',
    needsCaller: true,
    spec: 'contract §4',
  }),
  {
    method: 'DELETE',
    path: '/sessions/{id}',
    operation: 'EndSession',
    resource: SESSION,
    summary: 'Ends a session of the caller and revokes its access tokens',
    needsCaller: true,
    input: { kind: 'path' },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
    spec: 'contract §4',
  },
];
