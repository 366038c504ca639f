/** The stores of this subgraph, on one client or transaction. */
import { type OrderStore, createOrderStore } from './order-store.ts';
import { type PaymentStore, createPaymentStore } from './payment-store.ts';
import type { StoreDependencies } from './prisma-store.ts';
import { type ProductStore, createProductStore } from './product-store.ts';

export interface OrdersStores {
  readonly orders: OrderStore;
  readonly products: ProductStore;
  readonly payments: PaymentStore;
}

export function createOrdersStores(dependencies: StoreDependencies): OrdersStores {
  return {
    orders: createOrderStore(dependencies),
    products: createProductStore(dependencies),
    payments: createPaymentStore(dependencies),
  };
}
