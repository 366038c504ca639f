/** Repeated deletions with and without conditions over real processes (contract §2). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type LeasedStack, leaseStack } from '../../stack/leased-stack.ts';
import type { Account } from '../../stack/stack.ts';

let stack: LeasedStack;
let ada: Account;
beforeAll(async () => {
  stack = await leaseStack();
  ada = await stack.createAccount('Ada');
});
afterAll(() => stack.stop());

const future = new Date(Date.now() + 86_400_000).toUTCString();

describe('a repeated DELETE', () => {
  it.each([
    ['no condition', {}],
    ['If-Match: *', { 'if-match': '*' }],
    ['an entity tag', { 'if-match': '"v1-x"' }],
    ['If-Unmodified-Since', { 'if-unmodified-since': future }],
    ['If-None-Match', { 'if-none-match': '"v9-x"' }],
  ])('answers 404 with %s', async (_, headers) => {
    const { id } = (await stack.call('POST', '/v1/posts', { token: ada.token, body: { title: 'Short' } })).body as { id: string };
    const remove = (conditions: Record<string, string>) =>
      stack.call('DELETE', `/v1/posts/${id}`, { token: ada.token, headers: conditions });
    expect((await remove({})).status).toBe(204);
    const again = await remove(headers);
    expect([again.status, again.body]).toMatchObject([404, { error: { code: 'NOT_FOUND' } }]);
    expect((await stack.call('GET', `/v1/posts/${id}`, { token: ada.token })).status).toBe(410);
  });
});
