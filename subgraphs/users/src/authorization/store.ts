/** The access that accounts have given to OAuth clients, as people see it: reads the grants of the authorization server, and ends them. */
import { sql } from '@trestle/chassis/database/sql';
import { type RowStore, createRowStore } from '@trestle/chassis/stores/row-store';
import type { UserClient } from '../user/store.ts';

/** A grant that has not ended. */
export interface Authorization {
  /** The claim `sid` of its access tokens. */
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly createdAt: Date;
  /** When the client last got a refresh token; null when it gets none. */
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date;
}

const COLUMNS = ['id', 'userId', 'clientId', 'clientName', 'scopes', 'createdAt', 'lastUsedAt', 'expiresAt'] as const;

/** Reads and ends grants. */
export interface AuthorizationStore extends Pick<RowStore<Authorization, { readonly userId: string }, 'CREATED_AT'>, 'connection'> {
  /** Deletes a grant of the account with everything that belongs to it. Returns its client; undefined when there is no such grant. */
  readonly end: (userId: string, id: string) => Promise<string | undefined>;
}

export function createAuthorizationStore(prisma: UserClient): AuthorizationStore {
  const { connection } = createRowStore<Authorization, { readonly userId: string }, 'CREATED_AT'>({
    prisma,
    sorting: {
      list: 'authorizations',
      columns: { CREATED_AT: { column: 'createdAt', type: 'timestamptz' } },
      default: { field: 'CREATED_AT', direction: 'DESC' },
    },
    rowsOf: ({ userId }) => ({ table: 'authorizations', columns: COLUMNS, where: [sql`t."userId" = ${userId}`] }),
  });
  return {
    connection,
    async end(userId, id) {
      const [ended] = await prisma.$queryRaw<{ clientId: string }[]>(sql`
        WITH ended AS (
          DELETE FROM "oauth_records" WHERE "kind" = 'Grant' AND "grantId" = ${id} AND "accountId" = ${userId} RETURNING "payload"
        ), belonging AS (
          DELETE FROM "oauth_records" WHERE "grantId" = ${id} AND "kind" NOT IN ('Grant', 'Interaction') AND EXISTS (SELECT 1 FROM ended)
        )
        SELECT "payload" ->> 'clientId' AS "clientId" FROM ended`);
      return ended?.clientId;
    },
  };
}
