/** The scopes of access tokens (spec §5.5, RFC 9068 §2.2.3): what a token may do, within what the role of its account may do. No I/O. */

/** Describes each scope for people who are asked for their consent. */
export const SCOPE_DESCRIPTIONS = {
  'users:read': 'Read your profile, and other accounts as far as you may see them',
  'users:write': 'Change your profile, and those of others if you are an administrator',
  'orders:read': 'Read your orders and invoices',
  'orders:write': 'Place, change and cancel orders for you, and manage products if you are an administrator',
  'payments:read': 'Read your payments',
  'payments:write': 'Pay for your orders',
  'posts:read': 'Read your posts, including drafts',
  'posts:write': 'Write, change and delete posts for you',
  'comments:write': 'Write, change and delete comments for you',
  'videos:write': 'Upload, change and delete videos for you',
  'messages:read': 'Read your messages',
  'messages:write': 'Send messages for you',
  'events:read': 'Read events: what happens to public resources and to yours',
  'webhooks:manage':
    'Manage your webhooks, which send the events that you may read to other servers, and all webhooks if you are an administrator',
  'account:manage': 'Manage your password, e-mail address, sessions, API keys and second factor, and delete your account',
} as const;

/** Names one scope. */
export type Scope = keyof typeof SCOPE_DESCRIPTIONS;

/** Lists all scopes. */
export const SCOPES = Object.keys(SCOPE_DESCRIPTIONS) as readonly Scope[];

/** Holds all scopes: what a first-party login is given. */
export const ALL_SCOPES: ReadonlySet<Scope> = new Set(SCOPES);

/** Lists the scopes that OAuth clients and other issuers can be given: a client that manages the account could lock its owner out. */
export const DELEGABLE_SCOPES: readonly Scope[] = SCOPES.filter((scope) => scope !== 'account:manage');

/** Holds no scope. */
export const NO_SCOPES: ReadonlySet<Scope> = new Set();

/** Returns whether the string is the name of a scope. */
export function isScope(name: string): name is Scope {
  return ALL_SCOPES.has(name as Scope);
}

/** The characters of a scope (RFC 6749 §3.3). */
const NAME = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Returns whether a scope may have this name, known or not. */
export function isScopeName(name: string): boolean {
  return NAME.test(name);
}

/**
 * Parses names of scopes that are separated by spaces (RFC 6749 §3.3). Names that this system does not know are kept: another graph may
 * demand them with `@requiresScopes`. Names with other characters than those of a scope are left out.
 */
export function parseScopes(text: string): ReadonlySet<string> {
  const scopes = new Set(text.split(' ').filter(isScopeName));
  return scopes.size === ALL_SCOPES.size && SCOPES.every((scope) => scopes.has(scope)) ? ALL_SCOPES : scopes;
}

/** Formats scopes as the claim `scope`, in the order of `SCOPES`; those of other graphs follow. */
export function formatScopes(scopes: ReadonlySet<string>): string {
  return [...SCOPES.filter((scope) => scopes.has(scope)), ...[...scopes].filter((scope) => !isScope(scope))].join(' ');
}
