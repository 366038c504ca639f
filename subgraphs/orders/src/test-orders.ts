/** The orders subgraph on a database of its own, for tests: its stores, its real schema, and a count of the SQL that it sends. */
import type { Clock } from '@trestle/chassis/values/clock';
import type { IdempotencyKey } from '@trestle/chassis/request/idempotency-key';
import { openTestDatabase } from '@trestle/chassis/database/test-database';
import type { Idempotency } from '@trestle/chassis/stores/idempotency';
import { type CreateId, createIds } from '@trestle/chassis/values/ids';
import { createSubgraphSchema } from '@trestle/chassis/graphql/schema';
import type { Caller, Role } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { createTestDatabase } from '@trestle/postgres/test-database';
import { Fault } from '@trestle/schema/errors';
import { type ExecutionResult, execute, parse } from 'graphql';
import { Registry } from 'prom-client';
import { createOrdersContext } from './context.ts';
import type { OrderStatus } from './order/rules.ts';
import { type OrdersStores, openOrdersStores, openPrisma } from './stores.ts';
import type { Product } from './product/rules.ts';
import type { Purchase, PurchaseLine } from './order/purchase.ts';
import { resolvers } from './resolvers.ts';

export interface TestOrders extends OrdersStores {
  readonly idempotency: Idempotency<OrdersStores>;
  readonly prisma: ReturnType<typeof openPrisma>;
  readonly createId: CreateId;
  createProduct(product?: Partial<Product>): Promise<Product>;
  /** Orders of one item each, written straight into the tables: no mutation makes so many in so little time. Gives their ids. */
  createOrders(orders: readonly { customerId: string; productId: number; status?: OrderStatus; createdAt?: Date }[]): Promise<string[]>;
  /** Executes an operation, by default as an anonymous caller. */
  run<Data>(document: string, options?: RunOptions): Promise<Outcome<Data>>;
  /** How many SQL statements were sent so far. */
  countStatements(): Promise<number>;
  close(): Promise<void>;
}

export interface RunOptions {
  readonly caller?: Caller;
  readonly variables?: Record<string, unknown>;
  readonly idempotency?: IdempotencyKey;
}

export interface Outcome<Data> {
  readonly data: Data;
  /** The code of each error, or the message of one that was not meant for the client, by its path. */
  readonly codes: Readonly<Record<string, string>>;
}

export const callerOf = (userId: string, role: Role = 'USER') => createTestCaller({ userId, role });

/** What a customer buys, a product a line. */
export const buy = (...lines: PurchaseLine[]): Purchase => ({ lines, isList: lines.length > 1 });

/** `adminUrl` is that of the server of the test run. */
export async function openTestOrders(
  adminUrl = '',
  { clock = () => new Date('2026-01-01T00:00:00Z') }: { clock?: Clock } = {},
): Promise<TestOrders> {
  const testDatabase = await createTestDatabase({ subgraph: 'orders', adminUrl });
  const metrics = new Registry();
  const database = openTestDatabase({ url: testDatabase.url, metrics });
  const prisma = openPrisma(database);
  const createId = createIds({ now: createTicks() });
  const { idempotency, close } = openOrdersStores({ database, createId, clock });
  const schema = createSubgraphSchema('orders', { resolvers });

  return {
    ...idempotency.stores,
    idempotency,
    prisma,
    createId,
    createProduct: (product = {}) =>
      prisma.product.create({
        data: { name: 'Rope', description: '', category: 'ropes', price: 100, currency: 'EUR', stock: 10, ...product },
      }),
    async createOrders(wanted) {
      const orders = wanted.map(({ productId, ...order }) => ({ id: createId('ord'), productId, order }));
      const money = { total: 100, currency: 'EUR' };
      await prisma.order.createMany({ data: orders.map(({ id, order }) => ({ id, ...order, ...money })) });
      await prisma.orderItem.createMany({
        data: orders.map(({ id, productId }) => ({ id: createId('itm'), orderId: id, productId, qty: 1, unitPrice: 100, total: 100 })),
      });
      await prisma.invoice.createMany({ data: orders.map(({ id }) => ({ id: createId('inv'), orderId: id, ...money })) });
      return orders.map(({ id }) => id);
    },
    async run<Data>(document: string, { caller, variables = {}, idempotency: key }: RunOptions = {}): Promise<Outcome<Data>> {
      const request = { caller: caller ?? null, requestId: 'test', denials: new Map(), idempotency: key ?? null };
      const contextValue = createOrdersContext(request, idempotency);
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
