import { describe, expect, it } from '@jest/globals';
import type { Caller } from '@trestle/identity';
import fc from 'fast-check';
import { ORDER_STATUSES, type OrderStatus, checkAdvance, checkCancel, isPaid, maySee, visibilityOf } from './order.ts';
import { allowPayment, checkSettles, readPayment } from './payment.ts';
import { readProductId } from './product.ts';

const caller = (role: Caller['role']): Caller => ({ userId: 'usr_a', role, tokenId: 't', generation: 0, expiresAt: 0 });
const passes = (task: () => void): boolean => {
  try {
    task();
    return true;
  } catch (error) {
    expect((error as { code: string }).code).toBe('BUSINESS_RULE_VIOLATION');
    return false;
  }
};

describe('the states of an order', () => {
  it('go pending → paid → shipped → delivered, and no other step is let through', () => {
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

  it('let pending and paid be cancelled, and nothing leads out of delivered or cancelled', () => {
    expect(
      ORDER_STATUSES.filter((status) =>
        passes(() => {
          checkCancel({ status });
        }),
      ),
    ).toEqual(['PENDING', 'PAID']);
  });

  it('never come back to a state that was left, whatever is tried', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...ORDER_STATUSES)), (tries) => {
        const way: OrderStatus[] = ['PENDING'];
        for (const to of tries) {
          const status = way.at(-1) ?? 'PENDING';
          if (
            to === 'CANCELLED'
              ? passes(() => {
                  checkCancel({ status });
                })
              : passes(() => {
                  checkAdvance({ status }, to);
                })
          )
            way.push(to);
        }
        expect(new Set(way).size).toBe(way.length);
      }),
    );
  });

  it('count as paid from paid to delivered', () => {
    expect(ORDER_STATUSES.filter((status) => isPaid({ status }))).toEqual(['PAID', 'SHIPPED', 'DELIVERED']);
  });
});

it('shows orders to their customer and to administrators only', () => {
  expect(maySee(visibilityOf(null), 'usr_a')).toBe(false);
  expect(maySee(visibilityOf(caller('USER')), 'usr_a')).toBe(true);
  expect(maySee(visibilityOf(caller('MODERATOR')), 'usr_b')).toBe(false);
  expect(maySee(visibilityOf(caller('ADMIN')), 'usr_b')).toBe(true);
});

describe('the id of a product', () => {
  it.each(['', '0', '-1', '1.5', '1e3', 'abc', '2147483648', '٣'])('refuses %p as the number of a product', (id) => {
    expect(readProductId(id)).toBeUndefined();
  });

  it.each(['2147483647', '7'])('takes %p as the number of a product', (id) => {
    expect(readProductId(id)).toBe(Number(id));
  });
});

describe('a payment', () => {
  const order = {
    id: 'o',
    customerId: 'usr_a',
    status: 'PENDING' as const,
    total: 500,
    currency: 'EUR',
    createdAt: new Date(0),
    updatedAt: new Date(0),
    version: 1,
  };
  const payment = { amount: 500, currency: 'eur', customerId: 'usr_a' };

  it('has a positive amount and a currency of three letters, in any case', () => {
    expect(readPayment(payment).currency).toBe('EUR');
    expect(() => readPayment({ amount: 0, currency: 'euro', customerId: '' })).toThrow(
      expect.objectContaining({ details: [expect.anything(), expect.anything(), expect.anything()] }),
    );
  });

  it.each(['aß', 'ﬁx', 'eıd', 'eu', 'euro', 'e r', ''])('refuses %p as a currency, though its capitals may look like one', (currency) => {
    expect(() => readPayment({ ...payment, currency })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('is for oneself; administrators pay for anybody', () => {
    expect(() => {
      allowPayment(caller('USER'), { ...payment, customerId: 'usr_b' });
    }).toThrow('yourself');
    expect(() => {
      allowPayment(caller('ADMIN'), { ...payment, customerId: 'usr_b' });
    }).not.toThrow();
  });

  it('settles a pending order to the cent, in its currency', () => {
    expect(
      passes(() => {
        checkSettles({ ...payment, currency: 'EUR' }, order);
      }),
    ).toBe(true);
    expect(
      passes(() => {
        checkSettles({ ...payment, currency: 'USD' }, order);
      }),
    ).toBe(false);
    expect(
      passes(() => {
        checkSettles({ ...payment, amount: 499, currency: 'EUR' }, order);
      }),
    ).toBe(false);
    expect(
      passes(() => {
        checkSettles({ ...payment, currency: 'EUR' }, { ...order, status: 'PAID' });
      }),
    ).toBe(false);
  });
});
