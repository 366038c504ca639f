/** The API versions as data, oldest first: when each was released and what it changed (spec §9, contract §4). */

/** An integer amount and its separate currency became one object `{amount, currency}`, in responses and in request bodies. */
export interface MoneyChange {
  readonly kind: 'money';
  /** The GraphQL type of the resource, and its input types. */
  readonly resource: string;
  readonly inputs: readonly string[];
  readonly field: string;
  /** Where version 1 has the currency: in a sibling field that the object replaces, or in a GraphQL field to select besides. */
  readonly currency: { readonly replaces: string } | { readonly select: string };
}

/** The paging of lists without paging parameters changed. */
export interface PagingChange {
  readonly kind: 'paging';
  readonly variant: 'page' | 'cursor';
}

/** A change that breaks clients. */
export type Change = MoneyChange | PagingChange;

/** A version with its changes against the version before. */
export interface Release {
  readonly version: number;
  /** The date of the release, `YYYY-MM-DD`: date selectors from this date on select the version. */
  readonly releasedOn: string;
  readonly changes: readonly Change[];
}

/** All releases. A published release never changes; a breaking change needs a new one, an addition does not (spec §9.4). */
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

/** Returns the changes from version 1 up to and including `version`. */
export function changesUpTo(version: number): readonly Change[] {
  return CHANGELOG.filter((release) => release.version <= version).flatMap(({ changes }) => changes);
}
