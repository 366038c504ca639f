/** A subgraph is killed and restarted: other data is served meanwhile, and errors do not reveal its address (contract §3). */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;

beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const QUERY = 'query($id: ID!) { user(id: $id) { name ordersConnection { totalCount } } }';
const ask = () =>
  stack.graphql<{ user: { name: string; ordersConnection: { totalCount: number } | null } | null }>(QUERY, {
    token: ada.token,
    variables: { id: ada.id },
  });

it('returns the other data with a masked error while a subgraph is down, and all data when it is up again', async () => {
  expect((await ask()).data).toEqual({ user: { name: 'Ada', ordersConnection: { totalCount: 0 } } });
  const { port } = new URL(stack.subgraphs.orders.url);

  await stack.kill('orders');
  const partial = await ask();
  expect(partial.data).toEqual({ user: { name: 'Ada', ordersConnection: null } });
  expect(partial.errors.map(({ extensions }) => extensions['code'])).toEqual(['UPSTREAM_ERROR']);
  expect(partial.errors[0]?.extensions['requestId']).toMatch(/^[0-9a-f-]{36}$/);
  expect(partial.text).not.toMatch(new RegExp(`127\\.0\\.0\\.1|localhost|ECONN|${port}`));

  const list = await stack.call('GET', '/v1/orders', { token: ada.token });
  expect([list.status, (list.body as { error: { code: string } }).error.code]).toEqual([502, 'UPSTREAM_ERROR']);
  expect((await stack.call('GET', `/v1/users/${ada.id}`)).status).toBe(200);

  await stack.revive('orders');
  await until(async () => (await ask()).errors.length === 0);
  expect((await ask()).data).toEqual({ user: { name: 'Ada', ordersConnection: { totalCount: 0 } } });
});
