/** The rules of accounts (contract §3). Pure: no database, no clock. */
import { MAX_PAGE_SIZE } from '@trestle/chassis/paging/window';
import { notFound } from '@trestle/chassis/request/faults';
import { prefixOf } from '@trestle/chassis/values/ids';
import { checkString } from '@trestle/chassis/values/strings';
import { type Caller, type Plan, type Role, hasRole } from '@trestle/identity';
import type { Scope } from '@trestle/identity/scopes';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';
import { checkEmail } from './email-address.ts';
import { findPasswordFaults } from './password-rules.ts';

/** An account as the store returns it, without the hash of its password. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly bio: string | null;
  readonly age: number | null;
  readonly role: Role;
  readonly plan: Plan;
  /** Requests per minute that an enterprise account has instead of those of its plan. */
  readonly requestsPerMinute: number | null;
  readonly isActive: boolean;
  /** Where the picture is in the file store; null, as the three that describe it, without one. */
  readonly avatarKey: string | null;
  readonly avatarType: string | null;
  /** In bytes. */
  readonly avatarSize: number | null;
  /** In hexadecimal digits. */
  readonly avatarSha256: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
  /** Grows when all tokens that were issued so far are revoked (ADR 10). */
  readonly tokenGeneration: number;
  /** Set when the request proved that it comes from the owner: it created the account, or sent its password. */
  readonly isProven?: boolean;
}

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly bio?: string | null;
  readonly age?: number | null;
}

/** A change as a client sends it: absent fields stay, null clears `bio` and `age`. */
export interface UserInput {
  readonly email?: string | null;
  readonly name?: string | null;
  readonly bio?: string | null;
  readonly age?: number | null;
  readonly role?: Role | null;
  readonly isActive?: boolean | null;
  readonly currentPassword?: string | null;
  readonly plan?: Uppercase<Plan> | null;
  readonly requestsPerMinute?: number | null;
}

type Nullable = 'bio' | 'age' | 'requestsPerMinute';

/** A change that can be written. */
export type UserChange = {
  readonly [Field in Exclude<keyof UserInput, 'plan' | 'currentPassword'>]?: Field extends Nullable
    ? UserInput[Field]
    : NonNullable<UserInput[Field]>;
} & { readonly plan?: Plan };

const NAME = { field: 'name', ...lengthOf('UpdateUserInput.name') };
const MAX_PER_MINUTE = 1_000_000;
const BIO = { field: 'bio', ...lengthOf('UpdateUserInput.bio') };
const CURRENT_PASSWORD = { field: 'currentPassword', ...lengthOf('UpdateUserInput.currentPassword') };

/** Throws VALIDATION_ERROR with every fault. */
export function checkNewUser({ email, name, password, bio, age }: NewUser): void {
  rejectFaults([
    ...checkEmail(email),
    ...checkString(name, NAME),
    ...findPasswordFaults({ field: 'password', password, email }),
    ...checkString(bio ?? null, BIO),
    ...checkAge(age),
  ]);
}

/** Parses a change. Throws VALIDATION_ERROR with every fault. */
export function parseUserChange({ plan, currentPassword, ...input }: UserInput): UserChange {
  const { email, name, bio, age, role, isActive, requestsPerMinute } = input;
  rejectFaults([
    ...(email === undefined ? [] : checkEmail(email)),
    ...(name === undefined ? [] : checkString(name, NAME)),
    ...(bio === undefined ? [] : checkString(bio, BIO)),
    ...checkAge(age),
    ...(role === null ? [{ field: 'role', message: 'must not be null' }] : []),
    ...(isActive === null ? [{ field: 'isActive', message: 'must not be null' }] : []),
    ...(plan === null ? [{ field: 'plan', message: 'must not be null' }] : []),
    ...checkRequestsPerMinute(requestsPerMinute),
    ...checkString(currentPassword ?? null, CURRENT_PASSWORD),
  ]);
  return { ...(input as UserChange), ...(plan && { plan: plan.toLowerCase() as Plan }) };
}

/** A complete account, as a PUT sends it (spec §4.1). */
export interface UserReplacement extends UserInput {
  readonly email: string;
  readonly name: string;
  readonly password?: string | null;
}

/** Parses the replacement of an account that exists: absent `bio` and `age` are cleared. Throws VALIDATION_ERROR. */
export function parseReplacement({ password, bio = null, age = null, ...rest }: UserReplacement): UserChange {
  if (password != null) rejectFaults([{ field: 'password', message: 'must not be sent for an existing account' }]);
  return parseUserChange({ ...rest, bio, age });
}

/** Parses a replacement where no account exists yet. Throws VALIDATION_ERROR with every fault. */
export function parseNewAt({ password, bio = null, age = null, ...rest }: UserReplacement): UserChange & NewUser {
  if (password == null) rejectFaults([{ field: 'password', message: 'is required for a new account' }]);
  const user = { email: rest.email, name: rest.name, password: password ?? '', bio };
  checkNewUser(user);
  return { ...user, ...fitPlan({ plan: 'free', requestsPerMinute: null }, parseUserChange({ ...rest, bio, age })) };
}

/**
 * Returns the change with a number of requests per minute that fits the plan: only the plan `enterprise` has one, and any other plan removes
 * it. Throws VALIDATION_ERROR for a number with another plan.
 */
function fitPlan(user: Pick<User, 'plan' | 'requestsPerMinute'>, change: UserChange): UserChange {
  if ((change.plan ?? user.plan) === 'enterprise') return change;
  if (change.requestsPerMinute != null) rejectFaults([{ field: 'requestsPerMinute', message: 'requires the plan enterprise' }]);
  return user.requestsPerMinute === null ? change : { ...change, requestsPerMinute: null };
}

const MANAGE: Scope = 'account:manage';

/**
 * Administrators with the scope `account:manage` may create an account with an id of their choice, if it has the form of our ids. Throws
 * NOT_FOUND for other callers, and FORBIDDEN without the scope: a client that people let change their profile must not make accounts whose
 * password it knows.
 */
export function allowNewAt(caller: Caller, id: string): void {
  if (!hasRole(caller, 'ADMIN') || prefixOf(id) !== 'usr') throw notFound('account', id);
  requireManaging(caller, 'Creating an account by its id');
}

const ADMIN_FIELDS = ['role', 'isActive', 'plan', 'requestsPerMinute'] as const;

/** What decides who can use an account, and for how much: the scope `users:write` alone changes none of it. */
const MANAGED_FIELDS = ['email', ...ADMIN_FIELDS] as const;

/**
 * Returns the part of the change that the caller may write. Accounts change themselves, administrators any account. Only administrators with
 * the scope `account:manage` change `role`, `isActive`, `plan`, `requestsPerMinute` and the e-mail addresses of others, but a caller may send
 * them unchanged, as a PUT does. Throws FORBIDDEN, and VALIDATION_ERROR for requests per minute that the plan does not have.
 */
export function allowChange(caller: Caller, user: User, change: UserChange): UserChange {
  if (hasRole(caller, 'ADMIN')) return allowAdminChange(caller, user, fitPlan(user, change));
  if (caller.userId !== user.id) throw fail('FORBIDDEN', 'Changing another account requires the role ADMIN.');
  const changed = findChanged(ADMIN_FIELDS, user, change);
  if (changed) throw fail('FORBIDDEN', `Changing \`${changed}\` requires the role ADMIN.`);
  return Object.fromEntries(Object.entries(change).filter(([field]) => !ADMIN_FIELDS.includes(field as never)));
}

function allowAdminChange(caller: Caller, user: User, change: UserChange): UserChange {
  const changed = findChanged(MANAGED_FIELDS, user, change);
  if (changed) requireManaging(caller, `Changing \`${changed}\``);
  return change;
}

/** Returns the first of the fields that the change gives another value. */
function findChanged<Field extends keyof User & keyof UserChange>(
  fields: readonly Field[],
  user: User,
  change: UserChange,
): Field | undefined {
  return fields.find((field) => change[field] !== undefined && change[field] !== user[field]);
}

/** Throws FORBIDDEN unless the credential has the scope `account:manage`, which OAuth clients never have. */
function requireManaging({ scopes }: Caller, action: string): void {
  if (!scopes.has(MANAGE)) throw fail('FORBIDDEN', `${action} requires the scope \`${MANAGE}\`.`, { requiredScopes: [MANAGE] });
}

/**
 * Returns the password with which a caller must prove itself for a change: that of its own account, for a new e-mail address. Undefined
 * when it need not: administrators change the addresses of others. Throws VALIDATION_ERROR when it is missing, and FORBIDDEN for a
 * credential without the scope `account:manage`.
 */
export function needPassword(caller: Caller, user: User, { email = user.email, currentPassword }: UserInput): string | undefined {
  if (caller.userId !== user.id || email === user.email) return undefined;
  requireManaging(caller, 'Changing the own e-mail address');
  if (currentPassword == null) rejectFaults([{ field: 'currentPassword', message: 'is required to change the e-mail address' }]);
  return currentPassword ?? '';
}

/** Throws VALIDATION_ERROR unless the password is a good one for the account, and another one than now. */
export function checkNewPassword({ email }: User, { currentPassword, newPassword }: PasswordChange): void {
  rejectFaults([
    ...findPasswordFaults({ field: 'newPassword', password: newPassword, email }),
    ...(newPassword === currentPassword ? [{ field: 'newPassword', message: 'must differ from the current password' }] : []),
  ]);
}

/** A new password, and the one that the account has now. */
export interface PasswordChange {
  readonly currentPassword: string;
  readonly newPassword: string;
}

/** Throws FORBIDDEN unless the account is the caller's own or the caller is an administrator. */
export function allowDelete(caller: Caller, userId: string): void {
  if (caller.userId !== userId && !hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Deleting another account requires the role ADMIN.');
}

const READ: Scope = 'users:read';

interface Listing<Filter> {
  readonly filter: Filter;
  readonly orderBy?: readonly { readonly field: string }[] | null | undefined;
}

/**
 * Returns the filter. Only administrators with the scope `users:read` filter or sort by e-mail address, since a client could find hidden
 * addresses that way. Throws UNAUTHORIZED without a caller, else FORBIDDEN.
 */
export function allowListing<Filter extends { readonly email?: string | null }>(
  caller: Caller | null,
  { filter, orderBy }: Listing<Filter>,
): Filter {
  const byEmail = filter.email != null || orderBy?.some(({ field }) => field === 'EMAIL');
  if (!byEmail) return filter;
  // 403 is for callers who are authenticated (spec §7.3).
  if (!caller) throw fail('UNAUTHORIZED', 'Filtering or sorting by `email` requires authentication. Send an access token.');
  if (!hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Filtering or sorting by `email` requires the role ADMIN.');
  if (!caller.scopes.has(READ))
    throw fail('FORBIDDEN', 'Filtering or sorting by `email` requires the scope `users:read`.', { requiredScopes: [READ] });
  return filter;
}

/** With a greater page number PostgreSQL would skip rows for seconds; cursors reach every row. */
const MAX_PAGE = 10_000;
const DEFAULT_LIMIT = 10;

/** Parses page and limit of a plain list. Throws VALIDATION_ERROR with every fault. */
export function parsePagination(pagination: { readonly page?: number | null; readonly limit?: number | null } | null | undefined): {
  readonly first: number;
  readonly offset: number;
} {
  const page = pagination?.page ?? 1;
  const limit = pagination?.limit ?? DEFAULT_LIMIT;
  rejectFaults([
    ...(page < 1 || page > MAX_PAGE ? [{ field: 'pagination.page', message: `must be 1 to ${String(MAX_PAGE)}` }] : []),
    ...(limit < 1 || limit > MAX_PAGE_SIZE ? [{ field: 'pagination.limit', message: `must be 1 to ${String(MAX_PAGE_SIZE)}` }] : []),
  ]);
  return { first: limit, offset: (page - 1) * limit };
}

/** Parses the words of a search. Throws VALIDATION_ERROR. */
export function parseSearch(query: string): string {
  rejectFaults(checkString(query, { field: 'query', ...lengthOf('Query.searchUsers(query:)') }));
  return query;
}

function checkAge(age: number | null | undefined): FieldFault[] {
  return age != null && (age < 0 || age > 150) ? [{ field: 'age', message: 'must be 0 to 150' }] : [];
}

function checkRequestsPerMinute(number: number | null | undefined): FieldFault[] {
  const isValid = number == null || (number >= 1 && number <= MAX_PER_MINUTE);
  return isValid ? [] : [{ field: 'requestsPerMinute', message: `must be 1 to ${String(MAX_PER_MINUTE)}` }];
}
