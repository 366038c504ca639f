/** What the authorization server keeps in PostgreSQL: codes, grants, refresh tokens, interactions and sessions. Every write is one statement. */
import { createHash, createHmac } from 'node:crypto';
import type { Query } from '@trestle/chassis/database/query';
import { createIds } from '@trestle/chassis/values/ids';
import type { AdapterPayload } from 'oidc-provider';
import type { ClientDescription } from '../security/security-events.ts';
import type { AccountGenerations } from './account-generations.ts';

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
  /**
   * Inserts or replaces a record. A record that was consumed stays so. Resolves with false, and writes nothing, for a record of an account
   * whose tokens were revoked since the request has read it, or that the request has not read.
   */
  upsert(record: NewRecord): Promise<boolean>;
  /** As `upsert`, with a grant; records the consent in the audit trail, in the same statement. */
  saveGrant(grant: Omit<NewRecord, 'kind'>, client: ClientDescription): Promise<boolean>;
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

/** What the records are kept with. */
export interface RecordStoreOptions {
  readonly query: Query;
  /** A secret of this deployment: user codes are stored as their HMAC, because they are short enough to be found by trying all. */
  readonly lookupKey: string;
  /** Returns what the request that is handled has read of accounts. */
  readonly generations: () => AccountGenerations;
}

interface Row {
  readonly keyHash: Buffer;
  readonly payload: AdapterPayload;
  readonly consumedAt: Date | null;
  readonly accountId: string | null;
  /** The token generation of the account. */
  readonly generation: number | null;
}

/** Expired device codes are kept for so long, so that their clients receive `expired_token` (RFC 8628 §3.5). */
const KEPT = `interval '10 minutes'`;
const SWEEP_ROWS = 5000;
const USED_REFRESH_TOKENS_PER_GRANT = 100;
/** What the audit trail has room for. */
const MAX_DETAIL = 200;
const createEventId = createIds({ now: Date.now });
const HANDLE = 'sha256:';
const FOUND = `SELECT r."payload", r."consumedAt", r."keyHash", r."accountId", u."tokenGeneration" AS "generation"
  FROM "oauth_records" r LEFT JOIN "users" u ON u."id" = r."accountId"`;
/**
 * The account `$1`, if it has the generation `$2`. FOR SHARE waits for a change that is not committed yet, and makes a later one wait, whose
 * trigger then deletes the record too.
 */
const ACCOUNT = `"account" AS MATERIALIZED (
  SELECT "id" FROM "users" WHERE "id" = $1 AND "tokenGeneration" = $2::int AND "isActive" FOR SHARE)`;

/** Creates the store. */
export function createRecordStore({ query, generations, lookupKey }: RecordStoreOptions): RecordStore {
  const hashUserCode = (code: string) => createHmac('sha256', lookupKey).update(code).digest('base64url');
  /** What the request writes for the account follows from a record that holds for this generation. */
  const toFound = (row: Row): AdapterPayload => {
    if (row.accountId !== null && row.generation !== null) generations().note(row.accountId, row.generation);
    return toPayload(row);
  };
  /** Returns the first two parameters of a write. */
  const accountOf = (id: string | undefined) => [id ?? null, (id !== undefined ? generations().of(id) : undefined) ?? null];
  return {
    upsert: (record) => upsert(query, { ...record, ...toStored(record, hashUserCode) }, accountOf(findAccountId(record))),
    async find({ kind, key }) {
      const [row] = await query<Row>(`${FOUND} WHERE r."kind" = $1 AND r."keyHash" = $2`, [kind, hash(key)]);
      return row && { ...toFound(row), jti: key };
    },
    async findByLookup(kind, lookup) {
      const isDevice = kind === 'DeviceCode';
      const [row] = await query<Row>(`${FOUND} WHERE r."kind" = $1 AND r."lookup" = $2`, [kind, isDevice ? hashUserCode(lookup) : lookup]);
      return row && { ...toFound(row), ...(isDevice && { userCode: lookup }), jti: `${HANDLE}${row.keyHash.toString('hex')}` };
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
    saveGrant: (grant, client) => saveGrant(query, { ...grant, client }, accountOf(grant.payload.accountId)),
    endGrant: (grantId, withdrawal) => endGrant(query, grantId, withdrawal),
    sweep: () => sweep(query),
  };
}

/**
 * Returns the account of a record. That of a login at an interaction is in its result until the browser follows the redirect, which begins
 * the session.
 */
function findAccountId({ kind, payload }: NewRecord): string | undefined {
  const { login } = (kind === 'Interaction' ? payload.result : undefined) ?? {};
  return payload.accountId ?? login?.accountId;
}

/** What is stored of a record: its payload without secrets, and by what it is found besides its key. */
interface Stored {
  readonly payload: AdapterPayload;
  readonly lookup: string | undefined;
}

function toStored({ kind, payload: given }: NewRecord, hashUserCode: (code: string) => string): Stored {
  const { userCode, ...payload } = given;
  delete payload.jti;
  // The library keeps the cookie of the session here, and never reads it.
  if (payload.session) delete payload.session.cookie;
  if (kind === 'DeviceCode') return { payload, lookup: userCode === undefined ? undefined : hashUserCode(userCode) };
  return { payload, lookup: kind === 'Session' ? payload.uid : undefined };
}

async function upsert(
  query: Query,
  { kind, key, payload, lookup, expiresInSeconds }: NewRecord & Stored,
  account: readonly unknown[],
): Promise<boolean> {
  const written = await query(
    `WITH ${ACCOUNT}
     INSERT INTO "oauth_records" ("kind", "keyHash", "payload", "accountId", "grantId", "lookup", "expiresAt")
     SELECT $3, $4, $5::jsonb, $1, $6, $7, clock_timestamp() + make_interval(secs => $8)
     WHERE $1::text IS NULL OR EXISTS (SELECT FROM "account")
     ON CONFLICT ("kind", "keyHash") DO UPDATE SET "payload" = EXCLUDED."payload", "accountId" = EXCLUDED."accountId",
       "grantId" = EXCLUDED."grantId", "lookup" = coalesce(EXCLUDED."lookup", "oauth_records"."lookup"), "expiresAt" = EXCLUDED."expiresAt"
     RETURNING "kind"`,
    [...account, kind, hash(key), JSON.stringify(payload), payload.grantId ?? null, lookup ?? null, expiresInSeconds],
  );
  return written.length > 0;
}

async function saveGrant(
  query: Query,
  { key, payload: given, expiresInSeconds, client }: Omit<NewRecord, 'kind'> & { readonly client: ClientDescription },
  account: readonly unknown[],
): Promise<boolean> {
  const payload = { ...given };
  delete payload.jti;
  const { openid } = payload as { openid?: { scope?: string } };
  // Its id is no secret: every access token of the grant has it as `sid`. By it the account finds the grant in its list.
  const written = await query(
    `WITH ${ACCOUNT}, recorded AS (
       INSERT INTO "security_events" ("id", "type", "userId", "subject", "detail", "address", "device")
       SELECT $7, 'CONSENT_GIVEN', "id", $8, $9, $10, $11 FROM "account")
     INSERT INTO "oauth_records" ("kind", "keyHash", "payload", "accountId", "grantId", "expiresAt")
     SELECT 'Grant', $3, $4::jsonb, "id", $5, clock_timestamp() + make_interval(secs => $6) FROM "account"
     ON CONFLICT ("kind", "keyHash") DO UPDATE SET "payload" = EXCLUDED."payload", "expiresAt" = EXCLUDED."expiresAt"
     RETURNING "kind"`,
    [
      ...[...account, hash(key), JSON.stringify(payload), key, expiresInSeconds],
      ...[createEventId('sev'), payload.clientId ?? null, openid?.scope?.slice(0, MAX_DETAIL) ?? null, client.address, client.device],
    ],
  );
  return written.length > 0;
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

function toPayload({ payload, consumedAt }: Pick<Row, 'payload' | 'consumedAt'>): AdapterPayload {
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
