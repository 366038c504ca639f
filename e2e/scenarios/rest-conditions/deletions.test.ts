/** Repeated deletions with and without conditions over real processes (contract §2). */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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

describe('GET of a deleted post', () => {
  it.each([
    ['draft', 404],
    ['published', 410],
    ['archived', 404],
  ])('answers others than its author as they saw it when it was %s', async (status, statusAfter) => {
    const { id } = (await stack.call('POST', '/v1/posts', { token: ada.token, body: { title: 'Short' } })).body as { id: string };
    const path = `/v1/posts/${id}`;
    if (status !== 'draft') await stack.call('PATCH', path, { token: ada.token, body: { status: 'published' } });
    if (status === 'archived') await stack.call('PATCH', path, { token: ada.token, body: { status } });
    expect((await stack.call('GET', path)).status).toBe(status === 'published' ? 200 : 404);
    expect((await stack.call('DELETE', path, { token: ada.token })).status).toBe(204);
    expect((await stack.call('GET', path)).status).toBe(statusAfter);
    expect((await stack.call('GET', path, { token: ada.token })).status).toBe(410);
  });
});

describe('GET of a post whose author was deleted', () => {
  it('answers 200 without the author to If-Modified-Since of a later time than the last change of the post', async () => {
    const author = await stack.createAccount('Author');
    const body = { title: 'Left behind', status: 'published' };
    const { id } = (await stack.call('POST', '/v1/posts', { token: author.token, body })).body as { id: string };
    expect((await stack.call('GET', `/v1/posts/${id}`)).body).toMatchObject({ authorId: author.id });
    expect((await stack.call('DELETE', `/v1/users/${author.id}`, { token: author.token })).status).toBe(204);
    await until(async () => ((await stack.call('GET', `/v1/posts/${id}`)).body as { authorId: string | null }).authorId === null);
    const read = await stack.call('GET', `/v1/posts/${id}`, { headers: { 'if-modified-since': future } });
    expect([read.status, read.body, read.headers.get('last-modified')]).toMatchObject([200, { authorId: null }, null]);
  });
});
