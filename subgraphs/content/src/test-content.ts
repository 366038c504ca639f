/** The content subgraph on a database of its own, for tests: its stores, its real schema, and Prisma for rows that no mutation creates. */
import { createJobControl } from '@trestle/chassis/jobs/job-control';
import type { Clock } from '@trestle/chassis/values/clock';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import { type CreateId, createIds } from '@trestle/chassis/values/ids';
import { createSubgraphSchema } from '@trestle/chassis/graphql/schema';
import type { Caller, Role } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { createTestDatabase } from '@trestle/postgres/test-database';
import { Fault } from '@trestle/schema/errors';
import { type ExecutionResult, execute, parse } from 'graphql';
import { Registry } from 'prom-client';
import { type ContentStores, openContentStores, openPrisma } from './stores.ts';
import { createContentContext } from './context.ts';
import type { Post } from './post/rules.ts';
import { resolvers } from './resolvers.ts';

export interface TestContent {
  readonly stores: ContentStores;
  readonly prisma: ReturnType<typeof openPrisma>;
  readonly createId: CreateId;
  /** Creates a post, by default a published one. */
  createPost(authorId: string, post?: Partial<Pick<Post, 'title' | 'body' | 'status' | 'tags' | 'createdAt'>>): Promise<Post>;
  /** Executes an operation, by default as an anonymous caller. */
  run<Data>(document: string, options?: { caller?: Caller; variables?: Record<string, unknown> }): Promise<Outcome<Data>>;
  /** How many SQL statements were sent so far. */
  countStatements(): Promise<number>;
  close(): Promise<void>;
}

export interface Outcome<Data> {
  readonly data: Data;
  /** The code of each error, by its path. */
  readonly codes: Readonly<Record<string, string>>;
}

export const callerOf = (userId: string, role: Role = 'USER') => createTestCaller({ userId, role });

/** `adminUrl` is that of the server of the test run. */
export async function openTestContent(
  adminUrl = '',
  { clock = () => new Date('2026-01-01T00:00:00Z') }: { clock?: Clock } = {},
): Promise<TestContent> {
  const testDatabase = await createTestDatabase({ subgraph: 'content', adminUrl });
  const metrics = new Registry();
  const database = openTestDatabase({ url: testDatabase.url, metrics });
  const prisma = openPrisma(database);
  const createId = createIds({ now: createTicks() });
  const { idempotency, close } = openContentStores({ database, createId, clock });
  const { stores } = idempotency;
  const schema = createSubgraphSchema('content', { resolvers });

  return {
    stores,
    prisma,
    createId,
    createPost: (authorId, { tags = [], ...post } = {}) =>
      prisma.post.create({ data: { id: createId('pst'), authorId, title: 'Title', status: 'PUBLISHED', tags: [...tags], ...post } }),
    async run<Data>(
      document: string,
      { caller, variables = {} }: { caller?: Caller; variables?: Record<string, unknown> } = {},
    ): Promise<Outcome<Data>> {
      const contextValue = createContentContext(
        { caller: caller ?? null, requestId: 'test', denials: new Map(), idempotency: null },
        idempotency,
        {
          files: { open: () => Promise.resolve(undefined), presignPut: undefined },
          jobControl: createJobControl({ works: {} }),
          uploadLimits: { maxBytes: 1_000_000, perAccount: 10, totalBytes: 10_000_000, expireAfterSeconds: 3600 },
        },
      );
      const result = await execute({ schema, document: parse(document), variableValues: variables, contextValue });
      return { data: result.data as Data, codes: codesOf(result) };
    },
    async countStatements() {
      const text = await metrics.metrics();
      return Number(/^trestle_sql_statements_total (\d+)$/m.exec(text)?.[1]);
    },
    async close() {
      await close();
      await prisma.$disconnect();
      await database.close();
      await testDatabase.drop();
    },
  };
}

/** A clock that goes on with each look at it, so that ids come in the order in which things are made. */
function createTicks(): () => number {
  let last = Date.UTC(2026, 0, 1);
  return () => ++last;
}

function codesOf({ errors = [] }: ExecutionResult): Record<string, string> {
  return Object.fromEntries(
    errors.map(({ path = [], message, originalError }) => [path.join('.'), originalError instanceof Fault ? originalError.code : message]),
  );
}
