/** The mutations of sessions (spec §5, contract §3, ADR 19): rules first, then one statement or one transaction. */
import { notFound } from '@trestle/chassis/request/faults';
import { requireCaller } from '@trestle/chassis/request/context';
import { fail } from '@trestle/schema/errors';
import type { UsersContext } from '../context.ts';
import type { MutationCompleteLoginArgs, MutationEndSessionArgs, MutationLoginArgs, MutationLogoutArgs } from '../generated/resolvers.ts';
import type { UsersStores } from '../stores.ts';
import type { User } from '../user/rules.ts';
import { changedDuringLogin } from '../login/authenticate.ts';
import { toSessionClient } from './client.ts';
import { createRefreshToken, hashRefreshToken } from './refresh-cookie.ts';
import type { SessionAccount } from './store.ts';

/** The result of a login or a refresh. */
export interface AuthPayload {
  readonly token: string;
  /** In seconds. */
  readonly expiresIn: number;
  readonly user: User;
}

/**
 * Begins a session: issues its access token, and its refresh token in the cookie of the response. Throws what {@link Authenticate} rejects
 * with, and UNAUTHORIZED with a challenge for an account with a second factor.
 */
export async function login(credentials: MutationLoginArgs, context: UsersContext): Promise<AuthPayload> {
  const user = await context.authenticate(credentials, toSessionClient(context));
  await context.secondFactors.demand(user);
  return beginSession(user, context);
}

/** Completes a login with a second factor, and begins a session. Throws UNAUTHORIZED or RATE_LIMIT_EXCEEDED. */
export async function completeLogin(proof: MutationCompleteLoginArgs, context: UsersContext): Promise<AuthPayload> {
  return beginSession(await context.secondFactors.complete(proof, toSessionClient(context)), context);
}

/**
 * Begins a session of an account that has proved who it is. Throws UNAUTHORIZED when the account was changed since the proof was checked: a
 * new password must end a login with the old one, too.
 */
export async function beginSession(user: User, context: UsersContext): Promise<AuthPayload> {
  const client = toSessionClient(context);
  const refreshToken = createRefreshToken();
  const { id, ended } = await context.transact(async (stores) => {
    const begun = await stores.sessions.begin(user, toHash(refreshToken), client);
    if (!begun) throw changedDuringLogin();
    for (const sessionId of begun.ended) await stores.users.revokeSession(user.id, sessionId);
    await stores.securityEvents.record({ type: 'LOGIN_SUCCEEDED', userId: user.id, subject: begun.id, client });
    return begun;
  });
  for (const sessionId of ended) await context.revoke({ userId: user.id, sessionId });
  return toPayload({ ...user, sessionId: id }, refreshToken, context);
}

/**
 * Exchanges the refresh token of the cookie for a new one and an access token. Throws FORBIDDEN without an allowed origin,
 * VALIDATION_ERROR for several cookies, CONFLICT when another request has just used the token, UNAUTHORIZED when it is not valid: one that
 * was used before ends its session, because another client may have it.
 */
export async function refreshSession(context: UsersContext): Promise<AuthPayload> {
  const { stores, http, refreshCookie } = context;
  if (http?.origin === undefined)
    throw fail(
      'FORBIDDEN',
      'Refreshing a session requires a POST request with an `Origin` header with an allowed origin. A WebSocket cannot set the cookie.',
    );
  const sent = refreshCookie.read(http.cookie);
  if (sent === undefined) throw fail('UNAUTHORIZED', 'The request has no refresh cookie. Log in.');
  const used = hashRefreshToken(sent);
  if (!used) throw invalidToken();
  const next = createRefreshToken();
  const account = await stores.sessions.rotate(used, toHash(next), toSessionClient(context));
  if (account) return toPayload(account, next, context);
  const reuse = await stores.sessions.findReuse(used);
  if (reuse?.isRecent)
    throw fail('CONFLICT', 'Another request has just used the refresh token. Retry after 1 second with the new cookie.', {
      retryAfterSeconds: 1,
    });
  if (reuse) await endReusedSession(reuse, context);
  throw invalidToken();
}

/**
 * Ends the session of the caller's token, or with `everywhere` all sessions of the account and all of its tokens, and removes the cookie.
 * A token that belongs to no session is revoked alone. Throws UNAUTHORIZED; FORBIDDEN for `everywhere` without the scope `account:manage`,
 * since an OAuth client may end what it was given, not the sessions of others; and BUSINESS_RULE_VIOLATION for an API key, which would get
 * another token with the next request.
 */
export async function logout({ everywhere }: Partial<MutationLogoutArgs>, context: UsersContext): Promise<true> {
  const { userId, tokenId, sessionId, scopes } = requireCaller(context);
  if (everywhere && !scopes.has('account:manage'))
    throw fail('FORBIDDEN', 'Ending all sessions requires the scope `account:manage`.', { requiredScopes: ['account:manage'] });
  if (!everywhere && isApiKey(sessionId))
    throw fail('BUSINESS_RULE_VIOLATION', 'An API key has no session that could be ended. Revoke the key to end its access.');
  const own = isLogin(sessionId) ? sessionId : null;
  const client = toSessionClient(context);
  const revocation = await context.transact(async ({ users, sessions, securityEvents }) => {
    const generation = everywhere ? await users.revokeAllTokens(userId) : undefined;
    if (generation !== undefined) {
      await sessions.endAll(userId);
      await securityEvents.record({ type: 'SESSIONS_ENDED', userId, client });
      return { userId, generation };
    }
    if (own === null) {
      await users.revokeToken(userId, tokenId);
      await securityEvents.record({ type: 'TOKEN_REVOKED', userId, subject: sessionId, client });
      return { userId, tokenId };
    }
    await sessions.end(userId, own);
    await users.revokeSession(userId, own);
    await securityEvents.record({ type: 'SESSION_ENDED', userId, subject: own, client });
    return { userId, sessionId: own };
  });
  await context.revoke(revocation);
  context.http?.setCookie(context.refreshCookie.clear());
  return true;
}

/** Ends a session of the caller, and revokes its access tokens. Throws UNAUTHORIZED or NOT_FOUND. */
export async function endSession({ id }: MutationEndSessionArgs, context: UsersContext): Promise<true> {
  const { userId } = requireCaller(context);
  const hasEnded = await context.transact((stores) => endWithEvent(stores, { userId, sessionId: id, type: 'SESSION_ENDED' }, context));
  if (!hasEnded) throw notFound('session', id);
  await context.revoke({ userId, sessionId: id });
  return true;
}

interface SessionEnd {
  readonly userId: string;
  readonly sessionId: string;
  readonly type: 'SESSION_ENDED' | 'REFRESH_TOKEN_REUSED';
}

/** Ends a session with its revocation and its security event, in the transaction of the stores. Returns whether it was live. */
async function endWithEvent(
  { sessions, users, securityEvents }: UsersStores,
  { userId, sessionId, type }: SessionEnd,
  context: UsersContext,
): Promise<boolean> {
  if (!(await sessions.end(userId, sessionId))) return false;
  await users.revokeSession(userId, sessionId);
  await securityEvents.record({ type, userId, subject: sessionId, client: toSessionClient(context) });
  return true;
}

async function endReusedSession(
  { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
  context: UsersContext,
): Promise<void> {
  await context.transact((stores) => endWithEvent(stores, { userId, sessionId, type: 'REFRESH_TOKEN_REUSED' }, context));
  await context.revoke({ userId, sessionId });
}

/** Issues the access token, and sets the cookie where the request came by HTTP. */
async function toPayload(account: SessionAccount, refreshToken: string, context: UsersContext): Promise<AuthPayload> {
  const { tokens, secondFactors, refreshCookie, http } = context;
  const { token, expiresInSeconds } = tokens.issue(await secondFactors.restrict(account));
  http?.setCookie(refreshCookie.write(refreshToken));
  return { token, expiresIn: expiresInSeconds, user: { ...account, isProven: true } };
}

/** Returns whether a session was begun by a login: API keys and OAuth grants are sessions too. */
export function isLogin(sessionId: string | null): sessionId is string {
  return sessionId?.startsWith('ses_') === true;
}

function isApiKey(sessionId: string | null): boolean {
  return sessionId?.startsWith('key_') === true;
}

function toHash(token: string): Buffer {
  return hashRefreshToken(token) as Buffer;
}

function invalidToken(): Error {
  return fail('UNAUTHORIZED', 'The refresh token is invalid, expired or was used before. Log in.');
}
