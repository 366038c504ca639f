/** Callers and contents of tokens for tests. */
import type { Caller } from '../identity.ts';
import { ALL_SCOPES } from '../scopes.ts';
import type { TokenGrant } from './tokens.ts';

/** Returns a caller with the role USER, all scopes and the plan `free`, with these changes. */
export function createTestCaller(changes: Partial<Caller> = {}): Caller {
  return {
    userId: 'usr_a',
    role: 'USER',
    tokenId: 't',
    generation: 0,
    expiresAt: 0,
    sessionId: null,
    scopes: ALL_SCOPES,
    clientId: null,
    plan: 'free',
    requestsPerMinute: null,
    ...changes,
  };
}

/** Returns what to issue a token with: for an account with the role USER and the plan `free`, with these changes. */
export function createTestGrant(changes: Partial<TokenGrant> = {}): TokenGrant {
  return { id: 'usr_a', role: 'USER', tokenGeneration: 0, plan: 'free', requestsPerMinute: null, sessionId: 'ses_a', ...changes };
}
