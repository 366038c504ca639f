/** Tests: the endpoint that invalidates results, and tags of subgraphs. */
import { describe, expect, it } from '@jest/globals';
import { request } from '../../stack/clients/client.ts';
import { type Headers, ADA, BOB, KEY, ask, federation, fetchesOf, fresh, sharing, statusOf } from './lamp-system.ts';

describe('POST /response-cache', () => {
  const post = (body: unknown, headers: Headers = { authorization: `Bearer ${KEY}` }) =>
    request(`${federation.gateway.url}/response-cache`, { method: 'POST', body, headers });
  const sendTags = (tags: Headers) => {
    federation.intercept = (_, __, response) => {
      for (const [name, value] of Object.entries(tags)) response.setHeader(name, value);
    };
  };

  it('answers 401 without the key, 405 to other methods, and 404 where no key is set', async () => {
    for (const headers of [{}, { authorization: `Bearer ${KEY}x` }, { authorization: KEY }, ADA])
      expect((await post({ all: true }, headers as Headers)).status).toBe(401);
    const { status, headers } = await request(`${federation.gateway.url}/response-cache`, {
      method: 'GET',
      headers: { authorization: `Bearer ${KEY}` },
    });
    expect([status, headers.get('allow')]).toEqual([405, 'POST, OPTIONS']);
    expect((await request(`${sharing.url}/response-cache`, { method: 'POST', body: { all: true } })).status).toBe(404);
  });

  it('refuses bodies that are malformed or too large', async () => {
    const bad = [
      '{',
      [],
      {},
      { tags: 'a' },
      { tags: ['a,b'] },
      { tags: [''] },
      { tags: [1] },
      { types: ['a b'] },
      { all: 1 },
      { other: [] },
    ];
    for (const body of [...bad, { tags: Array.from({ length: 1001 }, () => 'a') }])
      expect([body, (await post(body)).status]).toEqual([body, 400]);
    expect((await post({ tags: ['x'.repeat(1_100_000)] })).status).toBe(413);
  });

  it('invalidates results by the tags of Cache-Tag and Surrogate-Key, by type, and all', async () => {
    sendTags({ 'cache-tag': 'lamp-1, shop', 'surrogate-key': 'north  blue' });
    const tagged = fresh('{ lamp { name } }');
    await ask(tagged);
    federation.intercept = undefined;
    const other = fresh('{ other { name } }');
    for (const [body, ofTagged, ofOther] of [
      [{ tags: ['lamp'] }, 0, 0],
      [{ tags: ['x', 'shop'] }, 1, 0],
      [{ types: ['Other'] }, 0, 1],
      [{ types: ['Lamp'] }, 1, 0],
      [{ all: true }, 1, 1],
    ] as const) {
      sendTags({});
      await ask(other);
      sendTags({ 'cache-tag': 'lamp-1, shop', 'surrogate-key': 'north  blue' });
      await ask(tagged);
      expect((await post(body)).status).toBe(200);
      expect([body, await fetchesOf(tagged, {}), await fetchesOf(other, {})]).toEqual([body, [ofTagged], [ofOther]]);
    }
    expect((await post({ tags: ['blue'] })).status).toBe(200);
    expect(await fetchesOf(tagged, {})).toEqual([1]);
  });

  it('is what a mutation does with the tags that its subgraph sends', async () => {
    sendTags({ 'cache-tag': 'lamp-7' });
    const query = fresh('{ lamp { name } }');
    for (const headers of [ADA, BOB]) await ask(query, headers);
    await ask('mutation { touch(name: "tagged") }', ADA);
    expect(await fetchesOf(query, BOB)).toEqual([1]);
  });

  it('keeps no result with more tags than it may have, or with one that is none', async () => {
    for (const tags of [Array.from({ length: 201 }, (_, i) => `t${String(i)}`).join(), 'x'.repeat(129)]) {
      sendTags({ 'cache-tag': tags });
      expect(statusOf(await ask(fresh('{ lamp { name } }')))).toBe('Trestle; fwd=uri-miss');
    }
  });
});
