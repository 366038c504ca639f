/** Rows of logging in and out (contract §4). */
import { readLogin } from '../query/login.ts';
import { USER } from '../reply/resources.ts';
import type { Row } from './row.ts';

export const authRows: readonly Row[] = [
  {
    method: 'POST',
    path: '/auth/login',
    operation: 'Login',
    resource: USER,
    summary: 'Gives an access token for an e-mail address and its password',
    needsCaller: false,
    ignoresCredential: true,
    // A login changes nothing, and its token must not be kept.
    idempotency: 'without effect',
    reads: { kind: 'own', takesBody: true, createReader: () => readLogin },
    answers: { status: 200, shape: 'login' },
    reply: (answer, show) => {
      const { token, expiresIn, user } = answer as { token: string; expiresIn: number; user: unknown };
      return { status: 200, body: { accessToken: token, tokenType: 'Bearer', expiresIn, user: show(user).body } };
    },
    spec: 'contract §4',
  },
  {
    method: 'POST',
    path: '/auth/logout',
    operation: 'Logout',
    resource: USER,
    summary: 'Ends the access token of the request, and what is open by right of it',
    needsCaller: true,
    idempotency: 'without effect',
    reads: { kind: 'path', flags: { everywhere: 'Whether to end every token that the account was given so far.' } },
    answers: { status: 204, shape: 'nothing' },
    reply: () => ({ status: 204 }),
    spec: 'contract §4',
  },
];
