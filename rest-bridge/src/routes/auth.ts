/** Routes of logging in and out (contract §4). */
import { parseLogin } from '../query/login-body.ts';
import { USER } from '../resources/resources.ts';
import type { Route } from './route.ts';

/** The routes under `/auth`. */
export const authRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: '/auth/login',
    operation: 'Login',
    resource: USER,
    summary: 'Returns an access token for an e-mail address and its password',
    needsCaller: false,
    ignoresCredential: true,
    // A login changes nothing, and its token must not be stored.
    idempotency: 'ignored',
    input: { kind: 'custom', hasBody: true, createReader: () => parseLogin },
    success: { status: 200, content: 'login' },
    toResponse: (result, represent) => {
      const { token, expiresIn, user } = result as { token: string; expiresIn: number; user: unknown };
      return { status: 200, body: { accessToken: token, tokenType: 'Bearer', expiresIn, user: represent(user).body } };
    },
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/logout',
    operation: 'Logout',
    resource: USER,
    summary: 'Revokes the access token of the request and closes its subscriptions',
    needsCaller: true,
    idempotency: 'ignored',
    input: { kind: 'path', flags: { everywhere: 'Whether to revoke every token that was issued to the account.' } },
    success: { status: 204, content: 'none' },
    toResponse: () => ({ status: 204 }),
    spec: 'contract §4',
  },
];
