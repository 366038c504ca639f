/** What the authorization server keeps in PostgreSQL: codes, grants, refresh tokens, interactions and sessions. Every write is one statement. */
import { createHash } from 'node:crypto';
import type { Query } from '@trestle/chassis/database/query';
import { createIds } from '@trestle/chassis/values/ids';
import type { AdapterPayload } from 'oidc-provider';
import type { ClientDescription } from '../security/security-events.ts';

/** A record under one key. */
export interface RecordKey {
  /** The model of oidc-provider, such as `RefreshToken`. */
  readonly kind: string;
  /** The code, token, cookie or id; only its SHA-256 is stored. */
  readonly key: string;
}

/** A record to write. */
export interface NewRecord extends RecordKey {
  readonly payload: AdapterPayload;
  readonly expiresInSeconds: number;
}

/** How the access of a client ends. */
export interface Withdrawal {
  /** What the audit trail says of it. */
  readonly detail: string;
  readonly client: ClientDescription;
}

/** Keeps the records. */
export interface RecordStore {
  /** Inserts or replaces a record. A record that was consumed stays so. */
  upsert(record: NewRecord): Promise<void>;
  /** Inserts or replaces a grant, and records the consent in the audit trail, in one statement. */
  saveGrant(grant: Omit<NewRecord, 'kind'>, client: ClientDescription): Promise<void>;
  /** Resolves with a record, also when it has expired and was not deleted yet. */
  find(record: RecordKey): Promise<AdapterPayload | undefined>;
  /** Finds a device code by its user code, or a session by its uid. Its `jti` is a handle, because the key itself is not stored. */
  findByLookup(kind: string, lookup: string): Promise<AdapterPayload | undefined>;
  /** Marks a record as consumed. Resolves with whether this call did so; of several calls at once exactly one does. */
  consume(record: RecordKey): Promise<boolean>;
  /** Notes that a client polls. Resolves with false when it has polled less than `intervalSeconds` ago. */
  poll(record: RecordKey, intervalSeconds: number): Promise<boolean>;
  /** Deletes a record. */
  remove(record: RecordKey): Promise<void>;
  /** Deletes the records of one kind that belong to a grant. */
  removeOfGrant(kind: string, grantId: string): Promise<void>;
  /**
   * Deletes a grant with everything that belongs to it, writes the revocation of its access tokens, and records that the consent was
   * withdrawn, in one statement. Resolves with the account of the grant; undefined when the grant does not exist.
   */
  endGrant(grantId: string, withdrawal: Withdrawal): Promise<string | undefined>;
  /** Deletes expired records, and of each grant the used refresh tokens but the latest 100. */
  sweep(): Promise<void>;
}

interface Row {
  readonly keyHash?: Buffer;
  readonly payload: AdapterPayload;
  readonly consumedAt: Date | null;
}

/** Expired device codes are kept for so long, so that their clients receive `expired_token` (RFC 8628 §3.5). */
const KEPT = `interval '10 minutes'`;
const SWEEP_ROWS = 5000;
const USED_REFRESH_TOKENS_PER_GRANT = 100;
/** What the audit trail has room for. */
const MAX_DETAIL = 200;
const createEventId = createIds({ now: Date.now });
const HANDLE = 'sha256:';
const FOUND = `"payload", "consumedAt"`;

/** Creates the store. */
export function createRecordStore(query: Query): RecordStore {
  return {
    async upsert({ kind, key, payload: given, expiresInSeconds }) {
      const payload = { ...given };
      delete payload.jti;
      const { accountId, grantId, userCode, uid, session } = payload;
      // The library keeps the cookie of the session here, and never reads it.
      if (session) delete session.cookie;
      const lookup = kind === 'DeviceCode' ? userCode : kind === 'Session' ? uid : undefined;
      await query(
        `INSERT INTO "oauth_records" ("kind", "keyHash", "payload", "accountId", "grantId", "lookup", "expiresAt")
         VALUES ($1, $2, $3::jsonb, $4, $5, $6, clock_timestamp() + make_interval(secs => $7))
         ON CONFLICT ("kind", "keyHash") DO UPDATE SET "payload" = EXCLUDED."payload", "accountId" = EXCLUDED."accountId",
           "grantId" = EXCLUDED."grantId", "lookup" = EXCLUDED."lookup", "expiresAt" = EXCLUDED."expiresAt"`,
        [kind, hash(key), JSON.stringify(payload), accountId ?? null, grantId ?? null, lookup ?? null, expiresInSeconds],
      );
    },
    async find({ kind, key }) {
      const [row] = await query<Row>(`SELECT ${FOUND} FROM "oauth_records" WHERE "kind" = $1 AND "keyHash" = $2`, [kind, hash(key)]);
      return row && { ...toPayload(row), jti: key };
    },
    async findByLookup(kind, lookup) {
      const [row] = await query<Required<Row>>(`SELECT ${FOUND}, "keyHash" FROM "oauth_records" WHERE "kind" = $1 AND "lookup" = $2`, [
        kind,
        lookup,
      ]);
      return row && { ...toPayload(row), jti: `${HANDLE}${row.keyHash.toString('hex')}` };
    },
    async consume({ kind, key }) {
      const consumed = await query(
        `UPDATE "oauth_records" SET "consumedAt" = clock_timestamp() WHERE "kind" = $1 AND "keyHash" = $2 AND "consumedAt" IS NULL
         RETURNING "kind"`,
        [kind, hash(key)],
      );
      return consumed.length > 0;
    },
    async poll({ kind, key }, intervalSeconds) {
      const [last] = await query<{ isTooFast: boolean | null }>(
        `WITH last AS (SELECT "kind", "keyHash", "polledAt" FROM "oauth_records" WHERE "kind" = $1 AND "keyHash" = $2 FOR UPDATE)
         UPDATE "oauth_records" r SET "polledAt" = clock_timestamp() FROM last
         WHERE r."kind" = last."kind" AND r."keyHash" = last."keyHash"
         RETURNING last."polledAt" > clock_timestamp() - make_interval(secs => $3) AS "isTooFast"`,
        [kind, hash(key), intervalSeconds],
      );
      return last?.isTooFast !== true;
    },
    async remove({ kind, key }) {
      await query(`DELETE FROM "oauth_records" WHERE "kind" = $1 AND "keyHash" = $2`, [kind, hash(key)]);
    },
    async removeOfGrant(kind, grantId) {
      await query(`DELETE FROM "oauth_records" WHERE "kind" = $1 AND "grantId" = $2`, [kind, grantId]);
    },
    saveGrant: (grant, client) => saveGrant(query, grant, client),
    endGrant: (grantId, withdrawal) => endGrant(query, grantId, withdrawal),
    sweep: () => sweep(query),
  };
}

async function saveGrant(
  query: Query,
  { key, payload: given, expiresInSeconds }: Omit<NewRecord, 'kind'>,
  { address, device }: ClientDescription,
): Promise<void> {
  const payload = { ...given };
  delete payload.jti;
  const { openid } = payload as { openid?: { scope?: string } };
  // Its id is no secret: every access token of the grant has it as `sid`. By it the account finds the grant in its list.
  await query(
    `WITH recorded AS (
       INSERT INTO "security_events" ("id", "type", "userId", "subject", "detail", "address", "device")
       VALUES ($6, 'CONSENT_GIVEN', $3, $7, $8, $9, $10))
     INSERT INTO "oauth_records" ("kind", "keyHash", "payload", "accountId", "grantId", "expiresAt")
     VALUES ('Grant', $1, $2::jsonb, $3, $4, clock_timestamp() + make_interval(secs => $5))
     ON CONFLICT ("kind", "keyHash") DO UPDATE SET "payload" = EXCLUDED."payload", "expiresAt" = EXCLUDED."expiresAt"`,
    [
      ...[hash(key), JSON.stringify(payload), payload.accountId ?? null, key, expiresInSeconds],
      ...[createEventId('sev'), payload.clientId ?? null, openid?.scope?.slice(0, MAX_DETAIL) ?? null, address, device],
    ],
  );
}

async function endGrant(query: Query, grantId: string, { detail, client }: Withdrawal): Promise<string | undefined> {
  const [ended] = await query<{ accountId: string }>(
    `WITH ended AS (
       DELETE FROM "oauth_records" WHERE "kind" = 'Grant' AND "keyHash" = $1 RETURNING "accountId", "payload" ->> 'clientId' AS "clientId"),
     belonging AS (DELETE FROM "oauth_records" WHERE "grantId" = $2 AND "kind" NOT IN ('Grant', 'Interaction')),
     recorded AS (
       INSERT INTO "security_events" ("id", "type", "userId", "subject", "detail", "address", "device")
       SELECT $3, 'CONSENT_WITHDRAWN', "accountId", "clientId", $4, $5, $6 FROM ended)
     SELECT "accountId", "emit_revocation"("accountId", jsonb_build_object('sessionId', $2::text))::text FROM ended`,
    [hash(grantId), grantId, createEventId('sev'), detail, client.address, client.device],
  );
  return ended?.accountId;
}

async function sweep(query: Query): Promise<void> {
  for (;;) {
    const removed = await query(
      `DELETE FROM "oauth_records" WHERE ("kind", "keyHash") IN
         (SELECT "kind", "keyHash" FROM "oauth_records" WHERE "expiresAt" < clock_timestamp() - ${KEPT} LIMIT ${String(SWEEP_ROWS)})
       RETURNING "kind"`,
    );
    if (removed.length < SWEEP_ROWS) break;
  }
  await query(
    `DELETE FROM "oauth_records" WHERE ("kind", "keyHash") IN (
       SELECT "kind", "keyHash" FROM (
         SELECT "kind", "keyHash", row_number() OVER (PARTITION BY "grantId" ORDER BY "createdAt" DESC) AS "age"
         FROM "oauth_records" WHERE "kind" = 'RefreshToken' AND "consumedAt" IS NOT NULL) used
       WHERE "age" > ${String(USED_REFRESH_TOKENS_PER_GRANT)} LIMIT ${String(SWEEP_ROWS)})`,
  );
}

function toPayload({ payload, consumedAt }: Row): AdapterPayload {
  return consumedAt ? { ...payload, consumed: Math.floor(consumedAt.getTime() / 1000) } : payload;
}

/** Returns whether a key is the handle of a record that was found by its lookup. Clients must not use one in place of a code. */
export function isHandle(key: string): boolean {
  return key.startsWith(HANDLE);
}

function hash(key: string): Buffer {
  if (isHandle(key)) return Buffer.from(key.slice(HANDLE.length), 'hex');
  return createHash('sha256').update(key).digest();
}
