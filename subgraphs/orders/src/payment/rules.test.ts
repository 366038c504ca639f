import { describe, expect, it } from '@jest/globals';
import type { Role } from '@trestle/identity';
import { createTestCaller } from '@trestle/identity/tokens/test-identity';
import { allowPayment, checkSettles, parsePayment } from './rules.ts';

const caller = (role: Role) => createTestCaller({ role });
const passes = (task: () => void): boolean => {
  try {
    task();
    return true;
  } catch (error) {
    expect((error as { code: string }).code).toBe('BUSINESS_RULE_VIOLATION');
    return false;
  }
};

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

  it('needs a positive amount, and a currency of three letters in any case', () => {
    expect(parsePayment(payment).currency).toBe('EUR');
    expect(() => parsePayment({ amount: 0, currency: 'euro', customerId: '' })).toThrow(
      expect.objectContaining({ details: [expect.anything(), expect.anything(), expect.anything()] }),
    );
  });

  it.each(['aß', 'ﬁx', 'eıd', 'eu', 'euro', 'e r', ''])('refuses the currency %p, even if its capitals are three letters', (currency) => {
    expect(() => parsePayment({ ...payment, currency })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });

  it('is allowed for the caller, and for anyone by administrators', () => {
    expect(() => {
      allowPayment(caller('USER'), { ...payment, customerId: 'usr_b' });
    }).toThrow('ADMIN');
    expect(() => {
      allowPayment(caller('ADMIN'), { ...payment, customerId: 'usr_b' });
    }).not.toThrow();
  });

  it('settles a pending order only with its exact total and currency', () => {
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
