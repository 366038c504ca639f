/** The rules of API keys (spec §5.2, contract §3). Pure: no database, no clock. */
import { notFound } from '@trestle/chassis/request/faults';
import { checkString } from '@trestle/chassis/values/strings';
import { type Caller, hasRole } from '@trestle/identity';
import { type Scope, isScope } from '@trestle/identity/scopes';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';

/** A key as the store returns it, without its hash. */
export interface ApiKey {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly lastFour: string;
  readonly scopes: readonly string[];
  readonly isAllowedInUrl: boolean;
  readonly expiresAt: Date | null;
  readonly lastUsedAt: Date | null;
  readonly successorId: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** A new key with its secret, which is nowhere else. */
export interface CreatedApiKey {
  readonly secret: string;
  readonly apiKey: ApiKey;
}

/** A new key as a client sends it. */
export interface NewApiKeyInput {
  readonly name: string;
  readonly scopes?: readonly string[] | null;
  readonly expiresAt?: Date | null;
  readonly isAllowedInUrl?: boolean | null;
}

/** A new key that can be written, without its secret. */
export interface NewApiKey extends Pick<ApiKey, 'userId' | 'name' | 'isAllowedInUrl' | 'expiresAt'> {
  readonly scopes: readonly Scope[];
}

/** A change that can be written. */
export interface ApiKeyChange {
  readonly name?: string;
  readonly isAllowedInUrl?: boolean;
}

/** The most keys of an account. Expired ones are deleted to make room for a new one. */
export const MAX_API_KEYS = 50;
const MANAGE: Scope = 'account:manage';
const NAME = { field: 'name', ...lengthOf('CreateApiKeyInput.name') };
const DEFAULT_OVERLAP_HOURS = 24;
const MAX_OVERLAP_HOURS = 168;
/** An hour in milliseconds. */
export const HOUR_MS = 3_600_000;

/** Throws FORBIDDEN unless the caller has the scope `account:manage`, which API keys have only when their owner says so. */
export function allowManaging(caller: Caller): Caller {
  if (caller.scopes.has(MANAGE)) return caller;
  throw fail('FORBIDDEN', `Managing API keys requires the scope \`${MANAGE}\`.`, { requiredScopes: [MANAGE] });
}

/** Whose keys a caller may see: those of all accounts, of one, or of none. */
export type KeyVisibility = { readonly all: true } | { readonly all: false; readonly userId: string | null };

/** Administrators see all keys, other callers their own, and callers without the scope `account:manage` none. */
export function keyVisibilityOf(caller: Caller | null): KeyVisibility {
  if (!caller?.scopes.has(MANAGE)) return { all: false, userId: null };
  return hasRole(caller, 'ADMIN') ? { all: true } : { all: false, userId: caller.userId };
}

/** Returns the account whose keys are listed. Throws FORBIDDEN when a caller other than an administrator names another account. */
export function parseListing(caller: Caller, filter: { readonly userId?: string | null } | null | undefined): string {
  const userId = filter?.userId ?? caller.userId;
  if (userId !== caller.userId && !hasRole(caller, 'ADMIN'))
    throw fail('FORBIDDEN', 'Listing the API keys of another account requires the role ADMIN.');
  return userId;
}

/**
 * Parses a new key of the caller. Throws VALIDATION_ERROR with every fault, and FORBIDDEN for scopes that the caller does not have: a key
 * must not be able to do more than the credential that creates it.
 */
export function parseNewApiKey(caller: Caller, input: NewApiKeyInput, now: Date): NewApiKey {
  const { name, scopes: named, expiresAt = null } = input;
  const unknown = (named ?? []).filter((scope) => !isScope(scope));
  rejectFaults([
    ...checkString(name, NAME),
    ...(named?.length === 0 ? [{ field: 'scopes', message: 'must contain at least one scope' }] : []),
    ...unknown.map((scope) => ({ field: 'scopes', message: `unknown scope ${JSON.stringify(scope)}` })),
    ...(expiresAt !== null && expiresAt <= now ? [{ field: 'expiresAt', message: 'must be in the future' }] : []),
  ]);
  const wanted = new Set<Scope>((named ?? [...caller.scopes].filter((scope) => scope !== MANAGE)).filter(isScope));
  const missing = [...wanted].filter((scope) => !caller.scopes.has(scope));
  if (missing.length > 0)
    throw fail('FORBIDDEN', `The credential lacks scopes of the new API key: ${missing.join(', ')}.`, { requiredScopes: missing });
  if (wanted.size === 0) rejectFaults([{ field: 'scopes', message: 'must contain at least one scope that the credential has' }]);
  return { userId: caller.userId, name, scopes: [...wanted], expiresAt, isAllowedInUrl: input.isAllowedInUrl ?? false };
}

/** Parses a change. Throws VALIDATION_ERROR with every fault. */
export function parseApiKeyChange({ name, isAllowedInUrl }: { name?: string | null; isAllowedInUrl?: boolean | null }): ApiKeyChange {
  const faults: FieldFault[] = name === undefined ? [] : checkString(name, NAME);
  if (isAllowedInUrl === null) faults.push({ field: 'isAllowedInUrl', message: 'must not be null' });
  rejectFaults(faults);
  return { ...(name != null && { name }), ...(isAllowedInUrl != null && { isAllowedInUrl }) };
}

/** Throws NOT_FOUND for a key that the caller does not see, and FORBIDDEN for one of another account that an administrator sees. */
export function allowOwnKey(caller: Caller, key: Pick<ApiKey, 'id' | 'userId'>): void {
  if (caller.userId === key.userId) return;
  if (!hasRole(caller, 'ADMIN')) throw notFound('API key', key.id);
  throw fail('FORBIDDEN', 'An API key can be changed and rotated by its own account only. An administrator can revoke it.');
}

/** Parses how long the old key is accepted after its rotation, in milliseconds. Throws VALIDATION_ERROR. */
export function parseOverlap(input: { readonly overlapHours?: number | null } | null | undefined): number {
  const hours = input?.overlapHours ?? DEFAULT_OVERLAP_HOURS;
  if (hours < 0 || hours > MAX_OVERLAP_HOURS)
    rejectFaults([{ field: 'overlapHours', message: `must be 0 to ${String(MAX_OVERLAP_HOURS)}` }]);
  return hours * HOUR_MS;
}

/**
 * Returns the key that replaces another one: with the same lifetime from now on. Throws BUSINESS_RULE_VIOLATION for a key that was replaced
 * or has expired, and FORBIDDEN when the caller lacks scopes of the key.
 */
export function toSuccessor(caller: Caller, key: ApiKey, now: Date): NewApiKey {
  if (key.successorId !== null)
    throw fail('BUSINESS_RULE_VIOLATION', `API key ${key.id} was replaced by ${key.successorId}. Rotate the new key.`);
  if (key.expiresAt !== null && key.expiresAt <= now)
    throw fail('BUSINESS_RULE_VIOLATION', `API key ${key.id} has expired. Create a new key.`);
  const scopes = key.scopes.filter(isScope);
  const missing = scopes.filter((scope) => !caller.scopes.has(scope));
  if (missing.length > 0)
    throw fail('FORBIDDEN', `The credential lacks scopes of the API key: ${missing.join(', ')}.`, { requiredScopes: missing });
  const expiresAt = key.expiresAt && new Date(now.getTime() + key.expiresAt.getTime() - key.createdAt.getTime());
  const { userId, name, isAllowedInUrl } = key;
  return { userId, name, scopes, isAllowedInUrl, expiresAt };
}
