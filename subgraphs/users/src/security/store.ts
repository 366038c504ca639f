/** Reads the audit trail. */
import { given, sql } from '@trestle/chassis/database/sql';
import { type RowStore, createRowStore } from '@trestle/chassis/stores/row-store';
import type { SecurityEventFilter, SecurityEventType } from '../generated/resolvers.ts';
import type { UserClient } from '../user/store.ts';
import { type NewSecurityEvent, recordSecurityEvent } from './security-events.ts';

/** An event of the audit trail. */
export interface SecurityEvent {
  readonly id: string;
  readonly type: SecurityEventType;
  readonly userId: string | null;
  readonly actorId: string | null;
  readonly subject: string | null;
  readonly detail: string | null;
  readonly address: string | null;
  readonly device: string | null;
  readonly createdAt: Date;
}

const COLUMNS = ['id', 'type', 'userId', 'actorId', 'subject', 'detail', 'address', 'device', 'createdAt'] as const;

export interface SecurityEventStore extends RowStore<SecurityEvent, SecurityEventFilter, 'CREATED_AT'> {
  /** Adds an event, in the transaction of the store. */
  readonly record: (event: NewSecurityEvent) => Promise<void>;
  /** Deletes events that are older than these days, at least 30, in batches. */
  readonly sweep: (days: number) => Promise<void>;
}

const SWEEP_ROWS = 1000;

export function createSecurityEventStore(prisma: UserClient): SecurityEventStore {
  const rows = createRowStore<SecurityEvent, SecurityEventFilter, 'CREATED_AT'>({
    prisma,
    sorting: {
      list: 'security-events',
      columns: { CREATED_AT: { column: 'createdAt', type: 'timestamptz' } },
      default: { field: 'CREATED_AT', direction: 'DESC' },
    },
    rowsOf: ({ type, userId, createdAtGte, createdAtLte }) => ({
      table: 'security_events',
      columns: COLUMNS,
      where: [
        ...given(type, (value) => sql`t."type" = ${value}`),
        ...given(userId, (value) => sql`t."userId" = ${value}`),
        ...given(createdAtGte, (time) => sql`t."createdAt" >= ${time}::timestamptz`),
        ...given(createdAtLte, (time) => sql`t."createdAt" <= ${time}::timestamptz`),
      ],
    }),
  });
  return {
    ...rows,
    record: (event) => recordSecurityEvent(prisma, event),
    async sweep(days) {
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;) {
        const [swept] = await prisma.$queryRaw<{ deleted: number }[]>(
          sql`SELECT "sweep_security_events"(${days}::int, ${SWEEP_ROWS}::int) AS "deleted"`,
        );
        deleted = swept?.deleted ?? 0;
      }
    },
  };
}
