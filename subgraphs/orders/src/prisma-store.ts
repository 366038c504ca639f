/** The connection that the stores of this room share. */
import type { Clock } from '@trestle/chassis/clock';
import type { Database } from '@trestle/chassis/database';
import type { CreateId } from '@trestle/chassis/ids';
import { PrismaClient } from './generated/prisma/client.ts';

export interface StoreDependencies {
  readonly prisma: PrismaClient;
  readonly createId: CreateId;
  readonly clock: Clock;
}

/** How long a transaction may wait for a connection, and then last: Prisma's own limits would fail writers that merely queue for one row. */
const TRANSACTION_LIMITS = { maxWait: 10_000, timeout: 15_000 };

export function openPrisma(database: Database): PrismaClient {
  return new PrismaClient({ adapter: database.adapter, transactionOptions: TRANSACTION_LIMITS });
}

/** Versions that a write accepts; undefined accepts any, an empty list none. */
export type ExpectedVersions = readonly number[] | null | undefined;
