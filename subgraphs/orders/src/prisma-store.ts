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

export function openPrisma(database: Database): PrismaClient {
  return new PrismaClient({ adapter: database.adapter });
}

/** Versions that a write accepts; undefined accepts any, an empty list none. */
export type ExpectedVersions = readonly number[] | null | undefined;
