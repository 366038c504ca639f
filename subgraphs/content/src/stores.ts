/** The stores of this subgraph on one Prisma client, which may be that of a transaction. */
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import type { TransactJobs } from '@trestle/chassis/jobs/job-work';
import { type JobStore, createJobStore } from '@trestle/chassis/jobs/job-store';
import { type Corrections, createCorrections } from '@trestle/chassis/search/corrections';
import { createIdempotency } from '@trestle/chassis/stores/idempotency';
import type { FindDeleted, Tombstone } from '@trestle/chassis/loading/tombstones';
import type { StoreOptions } from '@trestle/chassis/stores/row-store';
import { type ChannelStore, createChannelStore } from './channel/store.ts';
import { type CommentStore, createCommentStore } from './comment/store.ts';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';
import { type MessageStore, createMessageStore } from './message/store.ts';
import { type PostStore, createPostStore } from './post/store.ts';
import { type SearchStore, createSearchStore } from './search/store.ts';
import { type VideoUploadStore, createVideoUploadStore } from './video-upload/store.ts';
import { type VideoStore, createVideoStore } from './video/store.ts';

export interface ContentStores {
  readonly posts: PostStore;
  readonly comments: CommentStore;
  readonly videos: VideoStore;
  readonly uploads: VideoUploadStore;
  readonly channels: ChannelStore;
  readonly messages: MessageStore;
  readonly jobs: JobStore;
  /** Runs several writes in one transaction, which is a savepoint within another one. */
  readonly together: TransactJobs<ContentStores>;
  readonly search: SearchStore;
  readonly corrections: Corrections;
  readonly findDeleted: FindDeleted;
}

interface Dependencies extends Omit<StoreOptions<never>, 'prisma'> {
  readonly database: Database;
}

/** Opens the stores, and what runs their writes once for each Idempotency-Key. */
export function openContentStores({ database, ...options }: Dependencies) {
  const prisma = openPrisma(database);
  const idempotency = createIdempotency<Prisma.TransactionClient, ContentStores>({
    prisma,
    createStores: (client) => createContentStores({ ...options, prisma: client }),
  });
  return { idempotency, transact: idempotency.stores.together, close: () => prisma.$disconnect() };
}

/** Creates the Prisma client of the pool. */
export function openPrisma({ adapter }: Pick<Database, 'adapter'>): PrismaClient {
  return new PrismaClient({ adapter, transactionOptions: TRANSACTION_LIMITS });
}

function createContentStores(options: StoreOptions<Prisma.TransactionClient>): ContentStores {
  const findDeleted: FindDeleted = (ids) => findTombstones(options.prisma, ids);
  const withTombstones = { ...options, findDeleted };
  return {
    posts: createPostStore(withTombstones),
    comments: createCommentStore(withTombstones),
    videos: createVideoStore(withTombstones),
    uploads: createVideoUploadStore(options),
    channels: createChannelStore(options),
    messages: createMessageStore(withTombstones),
    jobs: createJobStore(options),
    together: (work) =>
      (options.prisma as PrismaClient).$transaction((transaction) => work(createContentStores({ ...options, prisma: transaction }))),
    search: createSearchStore(options.prisma),
    corrections: createCorrections(options.prisma),
    findDeleted,
  };
}

/** Returns the tombstones. A deleted comment is seen by those who see its post, or saw it before it was deleted too. */
function findTombstones(prisma: Prisma.TransactionClient, ids: readonly string[]): Promise<Tombstone[]> {
  return prisma.$queryRaw<Tombstone[]>`
    SELECT t."id", t."authorId", CASE
      WHEN p."id" IS NOT NULL THEN CASE WHEN p."status" <> 'PUBLISHED' THEN p."authorId" END
      WHEN d."id" IS NOT NULL THEN d."ownerId"
      ELSE t."ownerId"
    END AS "ownerId"
    FROM "tombstones" t LEFT JOIN "posts" p ON p."id" = t."postId" LEFT JOIN "tombstones" d ON d."id" = t."postId"
    WHERE t."id" = ANY(${[...ids]}::text[])`;
}
