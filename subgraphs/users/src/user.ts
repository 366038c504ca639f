/** The rules of accounts (contract §3). Pure: no database, no clock. */
import { prefixOf } from '@trestle/chassis/values/ids';
import { checkText } from '@trestle/chassis/values/text';
import { type Caller, type Role, hasRole } from '@trestle/identity';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import { lengthOf } from '@trestle/schema/lengths';

/** An account as the store gives it; its password's hash never leaves the store. */
export interface User {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly bio: string | null;
  readonly age: number | null;
  readonly role: Role;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
  /** Of the account's tokens; when it grows, those given before hold no longer (ADR 10). */
  readonly tokenGeneration: number;
  /** Set where this very request proved that it comes from the account's owner: it made it, or gave its password. */
  readonly isProven?: boolean;
}

export interface NewUser {
  readonly email: string;
  readonly name: string;
  readonly password: string;
  readonly bio?: string | null;
  readonly age?: number | null;
}

/** What may change of an account; what is absent stays. Null clears, where clearing is allowed. */
export interface UserInput {
  readonly email?: string | null;
  readonly name?: string | null;
  readonly bio?: string | null;
  readonly age?: number | null;
  readonly role?: Role | null;
  readonly isActive?: boolean | null;
}

/** An input whose every value is fit to be written. */
export type UserChange = {
  readonly [Field in keyof UserInput]?: Field extends 'bio' | 'age' ? UserInput[Field] : NonNullable<UserInput[Field]>;
};

const EMAIL = /^[^\s@<>()[\],;:\\"]{1,64}@[^\s@.]+(?:\.[^\s@.]+)+$/;
const NAME = { field: 'name', ...lengthOf('UpdateUserInput.name') };
const BIO = { field: 'bio', ...lengthOf('UpdateUserInput.bio') };

/** Throws VALIDATION_ERROR that lists every faulty field at once. */
export function checkNewUser({ email, name, password, bio, age }: NewUser): void {
  rejectFaults([
    ...checkEmail(email),
    ...checkText(name, NAME),
    ...checkText(password, { field: 'password', ...lengthOf('CreateUserInput.password') }),
    ...checkText(bio ?? null, BIO),
    ...checkAge(age),
  ]);
}

/** Reads what to change. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readUserChange(input: UserInput): UserChange {
  const { email, name, bio, age, role, isActive } = input;
  rejectFaults([
    ...(email === undefined ? [] : checkEmail(email)),
    ...(name === undefined ? [] : checkText(name, NAME)),
    ...(bio === undefined ? [] : checkText(bio, BIO)),
    ...checkAge(age),
    ...(role === null ? [{ field: 'role', message: 'must not be null' }] : []),
    ...(isActive === null ? [{ field: 'isActive', message: 'must not be null' }] : []),
  ]);
  return input as UserChange;
}

/** A whole account, as a PUT sends it (spec §4.1). */
export interface UserReplacement extends UserInput {
  readonly email: string;
  readonly name: string;
  readonly password?: string | null;
}

/** What a replacement changes of an account that is there: it clears bio and age unless it gives them. Throws VALIDATION_ERROR. */
export function readReplacement({ password, bio = null, age = null, ...rest }: UserReplacement): UserChange {
  if (password != null) rejectFaults([{ field: 'password', message: 'is only for a new account' }]);
  return readUserChange({ ...rest, bio, age });
}

/** What a replacement makes where no account was. Throws VALIDATION_ERROR that lists every faulty field at once. */
export function readFirst({ password, bio = null, age = null, ...rest }: UserReplacement): UserChange & NewUser {
  if (password == null) rejectFaults([{ field: 'password', message: 'is required for a new account' }]);
  const user = { email: rest.email, name: rest.name, password: password ?? '', bio };
  checkNewUser(user);
  return { ...user, ...readUserChange({ ...rest, bio, age }) };
}

/** Only administrators make accounts at ids of their choice, and only such as we might have given out; others find nothing there. Throws NOT_FOUND. */
export function allowFirst(caller: Caller, id: string): void {
  if (!hasRole(caller, 'ADMIN') || prefixOf(id) !== 'usr') throw fail('NOT_FOUND', 'There is no such account');
}

/**
 * Gives what of the change the caller may write. An account changes itself, an administrator any; roles and activity are for
 * administrators, though an account may send its own back unchanged, as a PUT does. Throws FORBIDDEN.
 */
export function allowChange(caller: Caller, user: User, change: UserChange): UserChange {
  if (hasRole(caller, 'ADMIN')) return change;
  if (caller.userId !== user.id) throw fail('FORBIDDEN', 'You may change your own account only');
  const { role = user.role, isActive = user.isActive, ...rest } = change;
  if (role !== user.role || isActive !== user.isActive) throw fail('FORBIDDEN', 'Only an administrator may change role or isActive');
  return rest;
}

/** Throws FORBIDDEN unless the caller may delete the account: his own, or any as an administrator. */
export function allowDelete(caller: Caller, userId: string): void {
  if (caller.userId !== userId && !hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'You may delete your own account only');
}

/** E-mail addresses are for administrators, also as a filter or an order, which would tell them by and by. Throws FORBIDDEN. */
export function allowListing(
  caller: Caller | null,
  {
    filter,
    orderBy,
  }: { readonly filter?: { readonly email?: string | null } | null; readonly orderBy?: readonly { readonly field: string }[] | null },
): void {
  const byEmail = filter?.email != null || orderBy?.some(({ field }) => field === 'EMAIL');
  if (byEmail && !hasRole(caller, 'ADMIN')) throw fail('FORBIDDEN', 'Only an administrator may filter or sort by email');
}

function checkAge(age: number | null | undefined): FieldFault[] {
  return age != null && (age < 0 || age > 150) ? [{ field: 'age', message: 'must be 0 to 150' }] : [];
}

function checkEmail(email: string | null): FieldFault[] {
  const faults = checkText(email, { field: 'email', ...lengthOf('UpdateUserInput.email') });
  if (faults.length > 0 || email === null) return faults;
  return EMAIL.test(email) ? [] : [{ field: 'email', message: 'must be an e-mail address' }];
}
