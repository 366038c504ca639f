/** What somebody may see and change of what people make (contract §3, "Who may do what"). No I/O. */
import { type Sql, name, sql } from '@trestle/chassis/paging/page-query';
import { type Caller, type Role, hasRole } from '@trestle/identity';
import { fail } from '@trestle/schema/errors';

/** Which posts or videos somebody sees: all of them, or the published ones and those of one account. */
export type Sight = 'everything' | { readonly ownerId: string | null };

/** `overseer` is the role from which on everything can be seen. */
export function sightOf(caller: Caller | null, overseer: Role): Sight {
  return hasRole(caller, overseer) ? 'everything' : { ownerId: caller?.userId ?? null };
}

/** A sight as conditions on a table that goes by the name `t`; its `owner` column says whose a row is. */
export function seen(sight: Sight, owner: 'authorId' | 'ownerId'): Sql[] {
  if (sight === 'everything') return [];
  if (sight.ownerId === null) return [sql`t."status" = 'PUBLISHED'`];
  return [sql`(t."status" = 'PUBLISHED' OR t.${name(owner)} = ${sight.ownerId})`];
}

/** Throws FORBIDDEN unless the thing is the caller's own or he has at least the role of `overseer`. */
export function allowChange(caller: Caller, { noun, ownerId, overseer }: { noun: string; ownerId: string; overseer: Role }): void {
  if (caller.userId !== ownerId && !hasRole(caller, overseer)) throw fail('FORBIDDEN', `You may not change another account's ${noun}`);
}
