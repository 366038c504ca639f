/** Parts of parameterised SQL statements. No I/O. */
import { type Sql, join, raw, sqltag as sql } from '@prisma/client/runtime/client';
import type { Query } from './query.ts';

export { sql, join, raw, type Sql };

/** What the chassis uses of a Prisma client, whether it is the client of the pool or of a transaction. */
export interface SqlClient {
  $queryRaw<T>(statement: Sql): PromiseLike<T>;
  $executeRaw(statement: Sql): PromiseLike<number>;
}

/** Returns a client that runs statements as a query does, such as one of a transaction. */
export function toSqlClient(query: Query): SqlClient {
  return {
    $queryRaw: <T>(statement: Sql) => query(statement.text, statement.values) as Promise<T>,
    $executeRaw: async (statement) => (await query(statement.text, statement.values)).length,
  };
}

/** Quotes the name of a table or column. Names come from our own code, never from a client. */
export function name(identifier: string): Sql {
  return raw(`"${identifier.replaceAll('"', '""')}"`);
}

/** Returns the condition on a value of a filter, or none when the value is absent or null. */
export function given<T>(value: T | null | undefined, condition: (value: T) => Sql): Sql[] {
  return value === null || value === undefined ? [] : [condition(value)];
}

/** Returns the condition that all of these hold. */
export function all(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? join([...conditions], ' AND ') : sql`true`;
}

/** Returns the condition that one of these holds. */
export function any(conditions: readonly Sql[]): Sql {
  return conditions.length > 0 ? sql`(${join([...conditions], ' OR ')})` : sql`false`;
}

/** Returns a pattern for `ILIKE` that matches strings that contain this one. */
export function containing(searched: string): string {
  return `%${searched.replace(/[\\%_]/g, '\\$&')}%`;
}
