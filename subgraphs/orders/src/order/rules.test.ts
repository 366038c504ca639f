import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ORDER_STATUSES, type OrderStatus, checkAdvance, checkCancel, isPaid } from './rules.ts';

const passes = (task: () => void): boolean => {
  try {
    task();
    return true;
  } catch (error) {
    expect((error as { code: string }).code).toBe('BUSINESS_RULE_VIOLATION');
    return false;
  }
};

describe('the status of an order', () => {
  it('advances from pending to paid to shipped to delivered, and in no other way', () => {
    const steps = ORDER_STATUSES.flatMap((from) =>
      ORDER_STATUSES.filter((to) =>
        passes(() => {
          checkAdvance({ status: from }, to);
        }),
      ).map((to) => [from, to]),
    );
    expect(steps).toEqual([
      ['PENDING', 'PAID'],
      ['PAID', 'SHIPPED'],
      ['SHIPPED', 'DELIVERED'],
    ]);
  });

  it('can become cancelled from pending and paid only', () => {
    expect(
      ORDER_STATUSES.filter((status) =>
        passes(() => {
          checkCancel({ status });
        }),
      ),
    ).toEqual(['PENDING', 'PAID']);
  });

  it('never returns to an earlier status', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ORDER_STATUSES)), (attempts) => {
        const passed: OrderStatus[] = ['PENDING'];
        for (const to of attempts) {
          const status = passed.at(-1) ?? 'PENDING';
          if (
            to === 'CANCELLED'
              ? passes(() => {
                  checkCancel({ status });
                })
              : passes(() => {
                  checkAdvance({ status }, to);
                })
          )
            passed.push(to);
        }
        expect(new Set(passed).size).toBe(passed.length);
      }),
    );
  });

  it('counts as paid from paid to delivered', () => {
    expect(ORDER_STATUSES.filter((status) => isPaid({ status }))).toEqual(['PAID', 'SHIPPED', 'DELIVERED']);
  });
});
