/** Who may see orders and what belongs to them (contract §3, "Who may do what"). No I/O. */
import { type Sql, sql } from '@trestle/chassis/database/sql';
import { type Caller, hasRole } from '@trestle/identity';

/** Whose orders a caller may see: those of all customers, of one, or of none. */
export type Visibility = { readonly all: true } | { readonly all: false; readonly customerId: string | null };

/** Administrators see all orders, customers their own, anonymous callers none. */
export function visibilityOf(caller: Caller | null): Visibility {
  return hasRole(caller, 'ADMIN') ? { all: true } : { all: false, customerId: caller?.userId ?? null };
}

/** Returns whether the caller may see what belongs to a customer. */
export function maySee(visibility: Visibility, customerId: string): boolean {
  return visibility.all || visibility.customerId === customerId;
}

/** Returns the conditions on a table `t` with a column `customerId`, so that hidden rows are in no list and in no total. */
export function whereVisible(visibility: Visibility): Sql[] {
  if (visibility.all) return [];
  return [visibility.customerId === null ? sql`false` : sql`t."customerId" = ${visibility.customerId}`];
}
