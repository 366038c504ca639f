/** The audit trail: security events, which are only ever added (issue 13). They contain no e-mail addresses, tokens and passwords. */
import { sql } from '@trestle/chassis/database/sql';
import { createIds } from '@trestle/chassis/values/ids';
import type { SecurityEventType } from '../generated/resolvers.ts';
import type { UserClient } from '../user/store.ts';

/** An event to record. The time is that of the database. */
export interface NewSecurityEvent {
  readonly type: SecurityEventType;
  /** The account that the event is about; null or absent when it is not known, as for a login with an unknown e-mail address. */
  readonly userId?: string | null | undefined;
  /** The account that caused the event; absent when it is the account itself or not known. */
  readonly actorId?: string | null | undefined;
  /** The id of what the event is about, such as a session or an API key; at most 100 characters. */
  readonly subject?: string | null | undefined;
  /** What has changed, such as `USER to ADMIN`; at most 200 characters and no personal data. */
  readonly detail?: string | null | undefined;
  /** The client that sent the request. */
  readonly client?: ClientDescription | undefined;
}

/** What is kept of a client: a truncated address and a short name of its device. */
export interface ClientDescription {
  readonly address: string | null;
  readonly device: string | null;
}

const createId = createIds({ now: Date.now });

/**
 * Adds an event to the audit trail. `prisma` is the client of the transaction that the event records, so that both happen or neither;
 * or the client of the pool for events that change nothing else.
 */
export async function recordSecurityEvent(prisma: Pick<UserClient, '$executeRaw'>, event: NewSecurityEvent): Promise<void> {
  const { type, userId, actorId, subject, detail, client } = event;
  await prisma.$executeRaw(sql`
    INSERT INTO "security_events" ("id", "type", "userId", "actorId", "subject", "detail", "address", "device")
    VALUES (${createId('sev')}, ${type}, ${userId ?? null}, ${actorId ?? null}, ${subject ?? null}, ${detail ?? null},
      ${client?.address ?? null}, ${client?.device ?? null})`);
}
