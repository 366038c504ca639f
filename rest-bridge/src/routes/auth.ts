/** Rows of logging in (contract §4). */
import { readLogin } from '../query/login.ts';
import { USER } from '../reply/resources.ts';
import type { Row } from './row.ts';

export const authRows: readonly Row[] = [
  {
    method: 'POST',
    path: '/auth/login',
    operation: 'Login',
    resource: USER,
    needsCaller: false,
    takesBody: true,
    createReader: () => readLogin,
    reply: (answer, show) => {
      const { token, expiresIn, user } = answer as { token: string; expiresIn: number; user: unknown };
      return { status: 200, body: { accessToken: token, tokenType: 'Bearer', expiresIn, user: show(user).body } };
    },
    spec: 'contract §4',
  },
];
