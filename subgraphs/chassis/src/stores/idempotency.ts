/** Runs a mutation once, however often it is sent with one key (spec §8, contract §4). The key is stored in the transaction of the write. */
import { createHash, createHmac } from 'node:crypto';
import { fail } from '@trestle/schema/errors';
import type { GraphQLResolveInfo } from 'graphql';
import { stringify } from 'safe-stable-stringify';
import { type SqlClient, sql } from '../database/sql.ts';
import type { RequestContext } from '../request/context.ts';
import type { IdempotencyKey } from '../request/idempotency-key.ts';

/** By the clock of the database: a process whose clock is ahead must not forget the keys of all the others. */
const IS_KEPT = sql`"createdAt" > now() - interval '24 hours'`;
const SWEEP_ROWS = 1000;

interface Transactions<Client> {
  $transaction<T>(work: (transaction: Client) => Promise<T>): Promise<T>;
}

/** What the stores and their keys are created from. */
export interface IdempotencyOptions<Client extends SqlClient, Stores> {
  /** The client of a database with the table `idempotency_keys`. */
  readonly prisma: Client & Transactions<Client>;
  /** Creates the stores on a client, which may be that of a transaction. It is called for each write and must be cheap. */
  readonly createStores: (client: Client) => Stores;
}

/** A mutation field as its resolver is called. */
export interface MutationCall {
  readonly args: object;
  readonly info: Pick<GraphQLResolveInfo, 'fieldName' | 'path'>;
  /** Whether the result has a secret besides the row, which is shown once and stored nowhere: a repetition cannot return it. */
  readonly hasSecret?: boolean;
}

/** The part of a request that decides whether a write is a repetition. */
export type IdempotentRequest = Pick<RequestContext, 'caller' | 'idempotency'>;

/** The stores of a subgraph, and writes that run once for each key. */
export interface Idempotency<Stores> {
  /** The stores outside of any transaction. */
  readonly stores: Stores;
  /**
   * Runs `write`. With a key, runs it once: every repetition within 24 hours returns the row that the first one wrote, as it was then.
   * Only successful writes are stored. `expectedVersions` may differ in a repetition, since a replay comes before preconditions.
   * Throws CONFLICT while another request with the key is in flight, and for a repetition of a write that has made a secret;
   * BUSINESS_RULE_VIOLATION for a key that was used with other arguments; GONE when a trigger has replaced the stored result, because its
   * account was deleted; PRECONDITION_FAILED when only a stored result is wanted and there is
   * none; and what `write` throws.
   */
  readonly once: <Row>(request: IdempotentRequest, call: MutationCall, write: (stores: Stores) => Promise<Row>) => Promise<Row>;
  /** Deletes keys that are older than 24 hours in batches; resolves when there are none. */
  readonly sweep: () => Promise<void>;
}

/** Creates the stores on `prisma`, and what runs their writes once for each key. */
export function createIdempotency<Client extends SqlClient, Stores>({
  prisma,
  createStores,
}: IdempotencyOptions<Client, Stores>): Idempotency<Stores> {
  const stores = createStores(prisma);

  return {
    stores,

    async once<Row>({ caller, idempotency }: IdempotentRequest, call: MutationCall, write: (stores: Stores) => Promise<Row>): Promise<Row> {
      if (!idempotency) return write(stores);
      const keyHash = toKeyHash(idempotency, caller?.userId ?? 'anonymous', call);
      const fingerprint = toFingerprint(idempotency.key, call);
      return prisma.$transaction(async (transaction) => {
        const stored = await claim(transaction, keyHash);
        if (stored && stored.fingerprint !== fingerprint)
          throw fail('BUSINESS_RULE_VIOLATION', 'The Idempotency-Key was used for another request. Use a new key for each request.');
        if (stored && call.hasSecret)
          throw fail('CONFLICT', 'The first request with this Idempotency-Key succeeded. Its secret is not shown again.');
        if (stored) {
          const row = fromJson(stored.result);
          if (isGone(row)) throw fail('GONE', 'The result of the first request with this Idempotency-Key was deleted with its account.');
          idempotency.replayed = true;
          return row as Row;
        }
        if (idempotency.isStoredOnly) throw fail('PRECONDITION_FAILED', 'No result is stored for this Idempotency-Key.');
        const row = await write(createStores(transaction));
        await store(transaction, { keyHash, fingerprint, row });
        return row;
      });
    },

    sweep: () => sweep(prisma),
  };
}

interface StoredResult {
  readonly fingerprint: string;
  readonly result: string;
}

/**
 * Locks the key until the transaction ends, and reads the result that is stored under it: in a second statement, which sees what the
 * last transaction with the lock committed.
 */
async function claim(transaction: SqlClient, keyHash: string): Promise<StoredResult | undefined> {
  const [lock] = await transaction.$queryRaw<{ held: boolean }[]>(
    sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${keyHash}, 0)) AS held`,
  );
  if (!lock?.held)
    throw fail('CONFLICT', 'A request with this Idempotency-Key is still in flight. Retry after 1 second.', { retryAfterSeconds: 1 });
  const [stored] = await transaction.$queryRaw<StoredResult[]>(
    sql`SELECT "fingerprint", "result"::text FROM "idempotency_keys" WHERE "keyHash" = ${keyHash} AND ${IS_KEPT}`,
  );
  return stored;
}

async function store(
  transaction: SqlClient,
  { keyHash, fingerprint, row }: { readonly keyHash: string; readonly fingerprint: string; readonly row: unknown },
): Promise<void> {
  await transaction.$executeRaw(sql`
    INSERT INTO "idempotency_keys" ("keyHash", "fingerprint", "result", "createdAt")
    VALUES (${keyHash}, ${fingerprint}, ${toJson(row)}::jsonb, now())
    ON CONFLICT ("keyHash") DO UPDATE
    SET "fingerprint" = EXCLUDED."fingerprint", "result" = EXCLUDED."result", "createdAt" = EXCLUDED."createdAt"`);
}

async function sweep(client: SqlClient): Promise<void> {
  for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;) {
    deleted = await client.$executeRaw(sql`
      DELETE FROM "idempotency_keys" WHERE "keyHash" IN (
        SELECT "keyHash" FROM "idempotency_keys" WHERE NOT (${IS_KEPT})
        ORDER BY "createdAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED
      )`);
  }
}

/** A key stands for one field of one caller's request. */
function toKeyHash({ key, scope }: IdempotencyKey, callerId: string, { info }: MutationCall): string {
  return createHash('sha256')
    .update(JSON.stringify([callerId, scope, info.path.key, key]))
    .digest('hex');
}

/** Keyed by the client's key, which is not stored, so that a guessable argument such as a password cannot be found by trying. */
function toFingerprint(key: string, { args, info }: MutationCall): string {
  const compared = Object.entries(args).filter(([name]) => name !== 'expectedVersions');
  return createHmac('sha256', key)
    .update(stringify([info.fieldName, Object.fromEntries(compared)]))
    .digest('hex');
}

/** Dates are marked, so that `fromJson` returns dates. */
function toJson(row: unknown): string {
  return JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name, shown: unknown) {
    return this[name] instanceof Date ? { $date: shown } : shown;
  });
}

/** Returns whether a trigger has replaced the result by `{"$gone": true}` (see the migrations of users). No row has such a column. */
function isGone(row: unknown): boolean {
  return typeof row === 'object' && row !== null && '$gone' in row;
}

function fromJson(json: string): unknown {
  return JSON.parse(json, (_, part: unknown) =>
    typeof part === 'object' && part !== null && '$date' in part ? new Date(String(part.$date)) : part,
  );
}
