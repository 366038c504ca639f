/** The products, orders and payments of the demo data. They obey the rules of the orders subgraph: totals, statuses, payments and stock agree. */
import { CATALOGUE } from './catalogue.ts';
import type { Person } from './people.ts';
import { type Random, createRandom } from './random.ts';
import { HOUR, STORY_BEGINS, at, later } from './timeline.ts';

const CURRENCY = 'EUR';
const ORDERS = 330;

/** Describes a row of the table of products. */
export interface Product {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly category: string;
  readonly price: number;
  readonly currency: string;
  stock: number;
  readonly createdAt: Date;
  updatedAt: Date;
  version: number;
}

/** Names one status of an order. */
export type OrderStatus = 'PENDING' | 'PAID' | 'SHIPPED' | 'DELIVERED' | 'CANCELLED';

/** Describes a row of the table of orders. */
export interface Order {
  readonly id: string;
  readonly customerId: string;
  readonly status: OrderStatus;
  readonly total: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Describes a row of the table of order items. */
export interface OrderItem {
  readonly id: string;
  readonly orderId: string;
  readonly productId: number;
  readonly qty: number;
  readonly unitPrice: number;
  readonly total: number;
}

/** Describes a row of the table of invoices. */
export interface Invoice {
  readonly id: string;
  readonly number: number;
  readonly orderId: string;
  readonly total: number;
  readonly currency: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

/** Describes a row of the table of payments. */
export interface Payment {
  readonly id: string;
  readonly customerId: string;
  readonly orderId: string;
  readonly amount: number;
  readonly currency: string;
  readonly status: 'SUCCEEDED' | 'REFUNDED';
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly version: number;
}

interface Purchase {
  readonly order: Order;
  readonly items: OrderItem[];
  readonly invoice: Invoice;
  readonly payment: Payment | undefined;
}

/** Holds the rows of all tables. */
export interface Shop {
  readonly products: Product[];
  readonly orders: Order[];
  readonly items: OrderItem[];
  readonly invoices: Invoice[];
  readonly payments: Payment[];
}

/** Sequences of statuses that an order can have. Only orders of the last weeks have not reached the end. */
const HISTORIES = [
  ['PENDING', 'PAID', 'SHIPPED', 'DELIVERED'],
  ['PENDING', 'CANCELLED'],
  ['PENDING', 'PAID', 'CANCELLED'],
] as const;

/** Returns the products and the orders of one year, from the oldest to the newest. */
export function createShop(people: readonly Person[]): Shop {
  const random = createRandom('shop');
  const products = createProducts();
  const purchases = Array.from({ length: ORDERS }, (_, index) => {
    const createdAt = at(0.04 + (0.95 * index) / ORDERS + random.integer(0, 9) / 10_000);
    const present = people.filter((person) => person.createdAt < createdAt);
    // The demo accounts Ada and Bob order often.
    const customer = index % 12 < 2 ? people[2 + (index % 2)] : undefined;
    return buy(random, { number: index + 1, createdAt, customerId: (customer ?? random.pick(present)).id, products });
  });
  for (const id of SOLD_OUT) sellOut(products, id);
  return {
    products,
    orders: purchases.map(({ order }) => order),
    items: purchases.flatMap(({ items }) => items),
    invoices: purchases.map(({ invoice }) => invoice),
    payments: purchases.flatMap(({ payment }) => payment ?? []),
  };
}

/** Ids of products that are sold out at the end of the year, as examples for filters and for orders that fail. */
const SOLD_OUT = [5, 29, 52];

function sellOut(products: readonly Product[], id: number): void {
  const product = products.find((candidate) => candidate.id === id);
  if (product) moveStock(product, -product.stock, at(1));
}

function createProducts(): Product[] {
  const rows = Object.entries(CATALOGUE).flatMap(([category, list]) => list.map((row) => ({ category, row })));
  return rows.map(({ category, row: [name, price, stock, description] }, index) => {
    const createdAt = later(STORY_BEGINS, index * HOUR);
    return { id: index + 1, name, description, category, price, currency: CURRENCY, stock, createdAt, updatedAt: createdAt, version: 1 };
  });
}

interface Basket {
  readonly number: number;
  readonly createdAt: Date;
  readonly customerId: string;
  readonly products: readonly Product[];
}

function buy(random: Random, { number, createdAt, customerId, products }: Basket): Purchase {
  const orderId = random.id('ord', createdAt);
  const chosen = random.sample(
    products.filter(({ stock }) => stock >= 8),
    random.pick([1, 1, 1, 2, 2, 3, 4]),
  );
  const items = chosen.map((product): OrderItem => {
    const qty = product.price > 9000 ? random.integer(1, 2) : random.integer(1, 6);
    const id = random.id('itm', createdAt);
    return { id, orderId, productId: product.id, qty, unitPrice: product.price, total: qty * product.price };
  });
  const total = items.reduce((sum, item) => sum + item.total, 0);
  const history = createHistory(random, createdAt);
  const { status, at: changedAt } = history.at(-1) ?? { status: 'PENDING', at: createdAt };
  const paidAt = history.find((step) => step.status === 'PAID')?.at;

  for (const [index, product] of chosen.entries()) {
    moveStock(product, -(items[index]?.qty ?? 0), createdAt);
    if (status === 'CANCELLED') moveStock(product, items[index]?.qty ?? 0, changedAt);
  }
  const money = { currency: CURRENCY };
  const order = { id: orderId, customerId, status, total, ...money, createdAt, updatedAt: changedAt, version: history.length };
  const invoice = { id: random.id('inv', createdAt), number, orderId, total, ...money, createdAt, updatedAt: createdAt, version: 1 };
  return { order, items, invoice, payment: paidAt && pay(random, { order, paidAt }) };
}

interface Step {
  readonly status: OrderStatus;
  readonly at: Date;
}

/** Returns the statuses of an order with their times. A recent order may have only the first ones. */
function createHistory(random: Random, createdAt: Date): Step[] {
  const [delivered, cancelled, refunded] = HISTORIES;
  const statuses = random.pick([delivered, delivered, delivered, delivered, delivered, cancelled, refunded]);
  const isRecent = createdAt > at(0.85);
  const length = isRecent ? random.integer(1, statuses.length) : statuses.length;
  let time = createdAt;
  return statuses.slice(0, length).map((status, index) => {
    if (index > 0) time = later(time, random.integer(1, 4 * 24) * HOUR);
    return { status, at: time };
  });
}

function pay(random: Random, { order, paidAt }: { order: Order; paidAt: Date }): Payment {
  const isRefunded = order.status === 'CANCELLED';
  return {
    id: random.id('pay', paidAt),
    customerId: order.customerId,
    orderId: order.id,
    amount: order.total,
    currency: order.currency,
    status: isRefunded ? 'REFUNDED' : 'SUCCEEDED',
    createdAt: paidAt,
    updatedAt: isRefunded ? order.updatedAt : paidAt,
    version: isRefunded ? 2 : 1,
  };
}

function moveStock(product: Product, change: number, time: Date): void {
  product.stock += change;
  product.version += 1;
  if (time > product.updatedAt) product.updatedAt = time;
}
