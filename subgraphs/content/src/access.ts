/** Who may see and change content (contract §3, "Who may do what"). No I/O. */
import { type Sql, name, sql } from '@trestle/chassis/database/sql';
import { type Caller, type Role, hasRole } from '@trestle/identity';
import type { Scope } from '@trestle/identity/scopes';
import { fail } from '@trestle/schema/errors';

/** The posts or videos that a caller may see: all of them, or the published ones and those of one account. */
export type Visibility = 'all' | { readonly ownerId: string | null };

/** Who may see content that is not published. */
export interface UnpublishedAccess {
  /** The role that sees the content of all accounts; others see their own. */
  readonly overseer: Role;
  /** The scopes of which the credential needs one. */
  readonly scopes: readonly Scope[];
}

/** Returns what a caller may see of content; without one of the scopes, what everybody may see. */
export function visibilityOf(caller: Caller | null, { overseer, scopes }: UnpublishedAccess): Visibility {
  if (!caller || !scopes.some((scope) => caller.scopes.has(scope))) return { ownerId: null };
  return hasRole(caller, overseer) ? 'all' : { ownerId: caller.userId };
}

/** Returns the conditions on a table `t` with a column `status`; its column `owner` holds the account that a row belongs to. */
export function whereVisible(visibility: Visibility, owner: 'authorId' | 'ownerId'): Sql[] {
  if (visibility === 'all') return [];
  if (visibility.ownerId === null) return [sql`t."status" = 'PUBLISHED'`];
  return [sql`(t."status" = 'PUBLISHED' OR t.${name(owner)} = ${visibility.ownerId})`];
}

/** Throws FORBIDDEN unless the content is the caller's own or the caller has at least the role `overseer`. */
export function allowChange(caller: Caller, { noun, ownerId, overseer }: { noun: string; ownerId: string; overseer: Role }): void {
  if (caller.userId !== ownerId && !hasRole(caller, overseer))
    throw fail('FORBIDDEN', `Changing a ${noun} of another account requires the role ${overseer}.`);
}
