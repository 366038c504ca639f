/** The versions of the API, oldest first, as data: when each came and what it changed (spec §9, contract §4). */

/** A whole number of minor units beside its currency became one object `{amount, currency}`, in answers and in bodies. */
export interface MoneyChange {
  readonly kind: 'money';
  /** The GraphQL type of the resource, and its input types. */
  readonly resource: string;
  readonly inputs: readonly string[];
  readonly field: string;
  /** Where the currency stands: a sibling that the object replaces, or a selection below a sibling that stays. */
  readonly currency: { readonly replaces: string } | { readonly select: string };
}

/** Lists are paged in another way when no parameter says how. */
export interface PagingChange {
  readonly kind: 'paging';
  readonly variant: 'page' | 'cursor';
}

export type Change = MoneyChange | PagingChange;

export interface Release {
  readonly version: number;
  /** The day from which on a client may be pinned to it, `YYYY-MM-DD`. */
  readonly releasedOn: string;
  readonly changes: readonly Change[];
}

/** Additions need no release (spec §9.4). A release is never edited once it is out; what breaks clients goes into a new one. */
export const CHANGELOG: readonly Release[] = [
  { version: 1, releasedOn: '2025-11-01', changes: [] },
  {
    version: 2,
    releasedOn: '2026-11-01',
    changes: [
      { kind: 'paging', variant: 'cursor' },
      { kind: 'money', resource: 'Order', inputs: [], field: 'total', currency: { replaces: 'currency' } },
      { kind: 'money', resource: 'OrderItem', inputs: [], field: 'unitPrice', currency: { select: 'currency' } },
      { kind: 'money', resource: 'OrderItem', inputs: [], field: 'total', currency: { select: 'currency' } },
      { kind: 'money', resource: 'Invoice', inputs: [], field: 'total', currency: { replaces: 'currency' } },
      {
        kind: 'money',
        resource: 'Product',
        inputs: ['CreateProductInput', 'UpdateProductInput'],
        field: 'price',
        currency: { replaces: 'currency' },
      },
      { kind: 'money', resource: 'Payment', inputs: ['CreatePaymentInput'], field: 'amount', currency: { replaces: 'currency' } },
    ],
  },
];

/** Everything that changed from version 1 up to and with `version`. */
export function changesUpTo(version: number): readonly Change[] {
  return CHANGELOG.filter((release) => release.version <= version).flatMap(({ changes }) => changes);
}
