/** Mutations that happen once however often they are sent with one key (spec §8, contract §4): the key is kept in the transaction of what it protects. */
import { createHash, createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { ApolloServerPlugin } from '@apollo/server';
import { type FieldFault, fail, rejectFaults } from '@trestle/schema/errors';
import type { GraphQLResolveInfo } from 'graphql';
import type { Clock } from '../values/clock.ts';
import type { IdempotencyKey, RequestContext } from '../request/context.ts';
import { type Sql, sql } from '../paging/page-query.ts';

const LIFETIME_MS = 24 * 60 * 60 * 1000;
const SWEEP_ROWS = 1000;

/** What is used of a Prisma client, inside a transaction or outside. */
interface Statements {
  $queryRaw<T>(statement: Sql): PromiseLike<T>;
  $executeRaw(statement: Sql): PromiseLike<number>;
}

interface Transactions<Client> {
  $transaction<T>(work: (transaction: Client) => Promise<T>): Promise<T>;
}

export interface IdempotencyOptions<Client extends Statements, Stores> {
  /** The client of a database with the table `idempotency_keys`. */
  readonly prisma: Client & Transactions<Client>;
  /** Makes the stores on a client, be it that of a transaction; it must cost next to nothing. */
  readonly createStores: (client: Client) => Stores;
  readonly clock: Clock;
}

/** A mutation field as its resolver is called. */
export interface MutationCall {
  readonly args: object;
  readonly info: Pick<GraphQLResolveInfo, 'fieldName' | 'path'>;
}

export interface Idempotency<Stores> {
  /** The stores outside of any transaction. */
  readonly stores: Stores;
  /**
   * Runs `write`, and without a key nothing else. With one, the row that was written first is given for every repetition within 24 hours, as it was then.
   * Only what succeeds is kept. `expectedVersions` are no part of what must be equal, since a replay comes before preconditions.
   * Throws CONFLICT while another request with the key is in hand, BUSINESS_RULE_VIOLATION for a key that was used with other arguments, and what `write` throws.
   */
  readonly once: <Row>(
    request: Pick<RequestContext, 'caller' | 'idempotency'>,
    call: MutationCall,
    write: (stores: Stores) => Promise<Row>,
  ) => Promise<Row>;
  /** Deletes what is older than 24 hours, some at a time; resolves when nothing is left to delete. */
  readonly sweep: () => Promise<void>;
}

export function createIdempotency<Client extends Statements, Stores>({
  prisma,
  createStores,
  clock,
}: IdempotencyOptions<Client, Stores>): Idempotency<Stores> {
  const stores = createStores(prisma);
  const oldest = () => new Date(clock().getTime() - LIFETIME_MS);

  return {
    stores,

    async once<Row>(
      { caller, idempotency }: Pick<RequestContext, 'caller' | 'idempotency'>,
      { args, info }: MutationCall,
      write: (stores: Stores) => Promise<Row>,
    ): Promise<Row> {
      if (!idempotency) return write(stores);
      const { key, scope } = idempotency;
      const keyHash = createHash('sha256')
        .update(JSON.stringify([caller?.userId ?? 'anonymous', scope, info.path.key, key]))
        .digest('hex');
      const fingerprint = toFingerprint(key, { args, info });
      return prisma.$transaction(async (transaction) => {
        const kept = await claim(transaction, { keyHash, oldest: oldest() });
        if (kept && kept.fingerprint !== fingerprint)
          throw fail('BUSINESS_RULE_VIOLATION', 'The Idempotency-Key was used for another request');
        if (kept) {
          idempotency.replayed = true;
          return toRow(kept.result) as Row;
        }
        const row = await write(createStores(transaction));
        await transaction.$executeRaw(sql`
          INSERT INTO "idempotency_keys" ("keyHash", "fingerprint", "result", "createdAt")
          VALUES (${keyHash}, ${fingerprint}, ${toJson(row)}::jsonb, ${clock()}::timestamptz)
          ON CONFLICT ("keyHash") DO UPDATE
          SET "fingerprint" = EXCLUDED."fingerprint", "result" = EXCLUDED."result", "createdAt" = EXCLUDED."createdAt"`);
        return row;
      });
    },

    async sweep() {
      for (let deleted = SWEEP_ROWS; deleted === SWEEP_ROWS;) {
        deleted = await prisma.$executeRaw(sql`
          DELETE FROM "idempotency_keys" WHERE "keyHash" IN (
            SELECT "keyHash" FROM "idempotency_keys" WHERE "createdAt" <= ${oldest()}::timestamptz
            ORDER BY "createdAt" LIMIT ${SWEEP_ROWS}::int FOR UPDATE SKIP LOCKED
          )`);
      }
    },
  };
}

/** Reads the headers `Idempotency-Key` and `Idempotency-Scope` (`<METHOD> <path>`); null without a key. Throws VALIDATION_ERROR. */
export function readIdempotencyKey({
  'idempotency-key': key,
  'idempotency-scope': scope = '',
}: IncomingHttpHeaders): IdempotencyKey | null {
  if (key === undefined) return null;
  const faults: FieldFault[] = [];
  if (!/^[\x21-\x7e]{1,255}$/.test(String(key)))
    faults.push({ field: 'Idempotency-Key', message: 'must be 1 to 255 visible ASCII characters' });
  if (scope !== '' && !/^[A-Z]+ \/[\x21-\x7e]{0,2047}$/.test(String(scope)))
    faults.push({ field: 'Idempotency-Scope', message: 'must be a method and a path' });
  rejectFaults(faults);
  return { key: String(key), scope: String(scope), replayed: false };
}

/** Tells by a header that something of the response was kept from an earlier request. */
export const replayPlugin: ApolloServerPlugin<RequestContext> = {
  requestDidStart: () =>
    Promise.resolve({
      willSendResponse: ({ contextValue: { idempotency }, response: { http } }) => {
        if (idempotency?.replayed) http.headers.set('idempotent-replayed', 'true');
        return Promise.resolve();
      },
    }),
};

interface Kept {
  readonly fingerprint: string;
  readonly result: string;
}

/** Holds the key until the transaction ends, and looks up what was kept under it: in a second statement, which sees what the last holder committed. */
async function claim(transaction: Statements, { keyHash, oldest }: { keyHash: string; oldest: Date }): Promise<Kept | undefined> {
  const [lock] = await transaction.$queryRaw<{ held: boolean }[]>(
    sql`SELECT pg_try_advisory_xact_lock(hashtextextended(${keyHash}, 0)) AS held`,
  );
  if (!lock?.held) throw fail('CONFLICT', 'A request with this Idempotency-Key is still in hand', { retryAfterSeconds: 1 });
  const [kept] = await transaction.$queryRaw<Kept[]>(
    sql`SELECT "fingerprint", "result"::text FROM "idempotency_keys" WHERE "keyHash" = ${keyHash} AND "createdAt" > ${oldest}::timestamptz`,
  );
  return kept;
}

/** Keyed by the client's key, which is kept nowhere: what is guessable in the arguments, such as a password, can't be found by trying. */
function toFingerprint(key: string, { args, info }: MutationCall): string {
  const compared = Object.entries(args).filter(([name]) => name !== 'expectedVersions');
  return createHmac('sha256', key)
    .update(toCanonicalJson([info.fieldName, Object.fromEntries(compared)]))
    .digest('hex');
}

/** Equal values are written alike, in whatever order their fields came. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Moments are marked, so that they come back as what they were. */
function toJson(row: unknown): string {
  return JSON.stringify(row, function (this: Readonly<Record<string, unknown>>, name, shown: unknown) {
    return this[name] instanceof Date ? { $date: shown } : shown;
  });
}

function toRow(json: string): unknown {
  return JSON.parse(json, (_, part: unknown) =>
    typeof part === 'object' && part !== null && '$date' in part ? new Date(String(part.$date)) : part,
  );
}
