/** A browser's part in a session: it keeps the refresh cookie, and sends it with its origin. */
import { type Reply, request } from '../../stack/clients/client.ts';

export interface Login {
  readonly token: string;
  /** The header `Cookie` of the next request. */
  readonly cookie: string;
}

/** Logs in by REST. */
export async function logIn(rest: string, credentials: { email: string; password: string }, userAgent = 'node'): Promise<Login> {
  const reply = await request(`${rest}/v1/auth/login`, { method: 'POST', body: credentials, headers: { 'user-agent': userAgent } });
  if (reply.status !== 200) throw new Error(`The login was answered with ${String(reply.status)}`);
  return { token: (reply.body as { accessToken: string }).accessToken, cookie: cookieOf(reply) };
}

/** Refreshes by REST, from the bridge's own origin unless the headers name another one. */
export function refresh(rest: string, cookie: string, headers: Record<string, string> = { origin: rest }): Promise<Reply> {
  return request(`${rest}/v1/auth/refresh`, { method: 'POST', headers: { ...headers, cookie } });
}

/** Returns the header `Cookie` that follows from the `Set-Cookie` of a response. */
export function cookieOf({ headers }: Pick<Reply, 'headers'>): string {
  return headers.get('set-cookie')?.split(';', 1)[0] ?? '';
}

export const codeOf = ({ body }: Reply) => (body as { error?: { code: string } } | undefined)?.error?.code;
