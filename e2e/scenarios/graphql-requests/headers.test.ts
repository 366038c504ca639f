/** The response headers of the gateway, and the request headers that it forwards to the subgraphs (spec §8, contract §4). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
let admin: Account;
beforeAll(async () => {
  stack = await leaseStack();
  [ada, admin] = await Promise.all([stack.createAccount('Ada'), stack.createAccount('Admin', 'ADMIN')]);
});
afterAll(() => stack.stop());

const send = (query: string, { headers = {}, token }: { headers?: Record<string, string>; token?: string } = {}) =>
  request(`${stack.gateway}/graphql`, { method: 'POST', body: { query }, headers, token });

describe('Server-Timing', () => {
  const QUERY = '{ users { id hasOrders } productsConnection { totalCount } }';

  it('has the total time of each subgraph for administrators', async () => {
    const { headers } = await send(QUERY, { token: admin.token });
    const timings = (headers.get('server-timing') ?? '').split(', ').sort();
    expect(timings).toEqual([expect.stringMatching(/^orders;dur=\d+\.\d$/), expect.stringMatching(/^users;dur=\d+\.\d$/)]);
  });

  it('is absent for other callers', async () => {
    for (const token of [ada.token, undefined])
      expect((await send(QUERY, { ...(token && { token }) })).headers.get('server-timing')).toBeNull();
  });
});

describe('Idempotency-Key', () => {
  const pay = (amount: number) =>
    `mutation { createPayment(input: { amount: ${String(amount)}, currency: "EUR", customerId: "${ada.id}" }) { id customer { name } } }`;
  const codeOf = ({ body }: { body: unknown }) => (body as { errors?: { extensions: { code: string } }[] }).errors?.[0]?.extensions.code;

  it('is forwarded to the subgraph, and a repeated request is marked as replayed', async () => {
    const headers = { 'idempotency-key': 'e2e-1', 'idempotency-scope': 'POST /payments' };
    const first = await send(pay(5), { headers, token: ada.token });
    expect([first.body, first.headers.get('idempotent-replayed')]).toMatchObject([
      { data: { createPayment: { customer: { name: 'Ada' } } } },
      null,
    ]);
    const again = await send(pay(5), { headers, token: ada.token });
    expect([again.body, again.headers.get('idempotent-replayed')]).toEqual([first.body, 'true']);
    expect(codeOf(await send(pay(6), { headers, token: ada.token }))).toBe('BUSINESS_RULE_VIOLATION');
    expect(
      (await send(pay(5), { headers: { 'idempotency-key': 'e2e-1' }, token: ada.token })).headers.get('idempotent-replayed'),
    ).toBeNull();
    expect(await stack.sql('orders', 'SELECT amount FROM payments WHERE "customerId" = $1', [ada.id])).toHaveLength(2);
  });

  it('is rejected by the gateway when it is invalid', async () => {
    for (const headers of [
      { 'idempotency-key': 'a b' },
      { 'idempotency-key': 'x'.repeat(256) },
      { 'idempotency-key': '' },
      { 'idempotency-key': 'k', 'idempotency-scope': 'payments' },
    ] as Record<string, string>[]) {
      const refused = await send(pay(9), { headers, token: ada.token });
      expect([refused.status, codeOf(refused)]).toEqual([400, 'VALIDATION_ERROR']);
    }
  });
});
