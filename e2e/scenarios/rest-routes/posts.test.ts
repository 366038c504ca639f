/** Posts and comments by REST, and the search that finds them (spec §4.2, contract §4). */
import { describe, expect, it } from '@jest/globals';
import { until } from '../../stack/clients/client.ts';
import { ada, admin, bob, call, ids, stack, useRoutes, write } from './routes-system.ts';

useRoutes();

describe('the routes of posts', () => {
  it('create, return, replace, update and delete a post', async () => {
    const made = await write('First', { body: 'Text', tags: ['b', 'a'] });
    expect([made.status, made.body]).toMatchObject([201, { title: 'First', status: 'published', tags: ['a', 'b'], authorId: ada.id }]);
    const path = `/v1/posts/${made.body.id}`;
    expect(made.headers.get('location')).toBe(path);
    expect((await call('GET', path)).body).toEqual(made.body);
    expect((await call('PUT', path, { token: ada.token, body: { title: 'Second' } })).body).toMatchObject({
      title: 'Second',
      body: '',
      tags: [],
      status: 'published',
    });
    expect((await call('PATCH', path, { token: ada.token, body: { body: 'More' } })).body).toMatchObject({ title: 'Second', body: 'More' });
    expect((await call('PATCH', path, { token: bob.token, body: { body: 'Mine' } })).status).toBe(403);
    expect((await call('DELETE', path, { token: ada.token })).status).toBe(204);
    expect([(await call('DELETE', path, { token: ada.token })).status, (await call('GET', path)).status]).toEqual([404, 410]);
  });

  it('replace a post by what was read, also with its related resources', async () => {
    const path = `/v1/posts/${(await write('Sent back', { tags: ['a'] })).body.id}`;
    const { body } = await call('GET', `${path}?include=author,comments,tags`, { token: ada.token });
    const replaced = await call('PUT', path, { token: ada.token, body });
    expect([replaced.status, replaced.body]).toMatchObject([200, { title: 'Sent back', tags: ['a'] }]);
  });

  it('list the posts of an account, and let the account and administrators create posts there', async () => {
    const { id } = (await write('Below')).body;
    expect((await call('GET', `/v1/users/${ada.id}/posts/${id}`)).body).toMatchObject({ id, title: 'Below' });
    expect((await call('GET', `/v1/users/${bob.id}/posts/${id}`)).status).toBe(404);
    expect((await call('GET', `/v1/users/usr_none/posts/${id}`)).status).toBe(404);
    expect((await write('Not mine', {}, bob.token)).status).toBe(403);
    expect((await write('By hand', {}, admin.token)).body).toMatchObject({ authorId: ada.id });
    const draft = (await write('Draft', { status: 'draft' })).body.id;
    expect((await call('GET', `/v1/users/${ada.id}/posts/${draft}`)).status).toBe(404);
    expect((await call('GET', `/v1/users/${ada.id}/posts/${draft}`, { token: ada.token })).status).toBe(200);
  });

  it('create, return, update and delete comments, and list them in every paging variant', async () => {
    const { id } = (await write('Talked about')).body;
    const path = `/v1/posts/${id}/comments`;
    const made: string[] = [];
    for (let i = 0; i < 5; i++) made.push((await call('POST', path, { token: bob.token, body: { body: `Word ${String(i)}` } })).body.id);
    expect(ids((await call('GET', path)).body)).toEqual(made);
    expect(ids((await call('GET', `${path}?offset=3&limit=2`)).body)).toEqual(made.slice(3));
    const first = (await call('GET', `${path}?cursor=&limit=2&sort=-id`)).body as unknown as { pagination: { nextCursor: string } };
    const second = (await call('GET', `${path}?cursor=${first.pagination.nextCursor}&limit=2&sort=-id`)).body;
    expect(ids(second)).toEqual([made[2], made[1]]);
    const { prevCursor } = (second as unknown as { pagination: { prevCursor: string } }).pagination;
    expect(prevCursor).toMatch(/^[\w-]+$/);
    expect(ids((await call('GET', `${path}?cursor=${prevCursor}&limit=2&sort=-id`)).body)).toEqual([made[4], made[3]]);
    expect(ids((await call('GET', `${path}?authorId=${ada.id}`)).body)).toEqual([]);
    expect((await call('GET', '/v1/posts/pst_none/comments')).status).toBe(404);
    const comment = `/v1/comments/${made[0] ?? ''}`;
    expect((await call('PATCH', comment, { token: bob.token, body: { body: 'Other' } })).body).toMatchObject({
      body: 'Other',
      author: { id: bob.id },
    });
    expect((await call('DELETE', comment, { token: ada.token })).status).toBe(403);
    expect((await call('DELETE', comment, { token: bob.token })).status).toBe(204);
    expect((await call('GET', comment)).status).toBe(410);
  });
});

describe('GET /search', () => {
  it('finds accounts, posts and comments, and returns all of them by cursor', async () => {
    await stack.createAccount('Zanzibar One');
    await stack.createAccount('Zanzibar Two');
    const { id } = (await write('About zanzibar')).body;
    await call('POST', `/v1/posts/${id}/comments`, { token: bob.token, body: { body: 'Where is zanzibar?' } });
    await write('A zanzibar draft', { status: 'draft' });
    interface Results {
      data: { type: string; _links: { self: { href: string } } }[];
      pagination: { nextCursor: string | null };
    }
    const search = async (query: string) => (await call('GET', `/v1/search?q=zanzibar${query}`)).body as unknown as Results;
    const typesOf = ({ data }: Results) => data.map(({ type }) => type).sort();
    const all = ['comment', 'post', 'user', 'user'];
    await until(async () => typesOf(await search('')).join() === all.join());
    const whole = await search('');
    expect(whole.pagination.nextCursor).toBeNull();
    for (const { _links } of whole.data) expect((await call('GET', _links.self.href)).status).toBe(200);
    const walked: unknown[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Results = await search(`&limit=1&cursor=${cursor}`);
      walked.push(...page.data);
      cursor = page.pagination.nextCursor;
    }
    expect(walked).toEqual(whole.data);
    expect(typesOf(await search('&type=comment,post'))).toEqual(['comment', 'post']);
  });

  it.each(['', '?q=', '?q=x&type=king', '?q=x&limit=0', '?q=x&cursor=bm90', '?q=x&cursor=&after=', '?q=x&page=0', '?q=-x', '?q=%21'])(
    'answers 400 to the query string "%s"',
    async (query) => {
      expect((await call('GET', `/v1/search${query}`)).status).toBe(400);
    },
  );
});
