/** The connection that the stores of this room share. */
import type { Clock } from '@trestle/chassis/values/clock';
import { type Database, TRANSACTION_LIMITS } from '@trestle/chassis/database/database';
import type { CreateId } from '@trestle/chassis/values/ids';
import { type Prisma, PrismaClient } from './generated/prisma/client.ts';

export interface StoreDependencies {
  /** The pool's client, or that of a transaction; a transaction within a transaction is a savepoint. */
  readonly prisma: Prisma.TransactionClient;
  readonly createId: CreateId;
  readonly clock: Clock;
}

export function openPrisma(database: Database): PrismaClient {
  return new PrismaClient({ adapter: database.adapter, transactionOptions: TRANSACTION_LIMITS });
}

/** Versions that a write accepts; undefined accepts any, an empty list none. */
export type ExpectedVersions = readonly number[] | null | undefined;
