/** The caller of a request and its role (spec §5). No I/O. */
/** Lists the roles, from the least to the most privileged. */
export const ROLES = ['USER', 'MODERATOR', 'ADMIN'] as const;
/** Names one role. */
export type Role = (typeof ROLES)[number];

/** Lists the plans of accounts, from the fewest to the most requests per minute (spec §8). */
export const PLANS = ['free', 'pro', 'enterprise'] as const;
/** Names one plan. */
export type Plan = (typeof PLANS)[number];

/** Identifies a caller whose token was verified. An anonymous caller is `null`. */
export interface Caller {
  readonly userId: string;
  readonly role: Role;
  /** The claim `jti` of the token. */
  readonly tokenId: string;
  /** Token generation of the account when the token was issued. Increasing it on the account revokes all tokens of lower generations. */
  readonly generation: number;
  /** Expiry of the token, in seconds since the epoch. */
  readonly expiresAt: number;
  /** For how many seconds after its expiry the token is valid, because clocks differ; 5 unless its issuer has another tolerance. */
  readonly toleranceSeconds?: number;
  /** The session that the token belongs to: a login, an API key or an OAuth grant. Null for a token that belongs to none. */
  readonly sessionId: string | null;
  /** What the token may do, within what the role may do. Names of other graphs than ours may be among them. */
  readonly scopes: ReadonlySet<string>;
  /** The OAuth client that the token was issued to; null for first-party tokens and API keys. */
  readonly clientId: string | null;
  /** The plan of the account when the token was issued: it determines the rate limit (spec §8). */
  readonly plan: Plan;
  /** Requests per minute that the account has instead of those of its plan; null when it has those of its plan. */
  readonly requestsPerMinute: number | null;
}

/** Returns whether the caller has the role or a higher one: USER < MODERATOR < ADMIN. */
export function hasRole(caller: Caller | null, role: Role): boolean {
  return caller !== null && ROLES.indexOf(caller.role) >= ROLES.indexOf(role);
}
