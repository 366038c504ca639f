import { expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { createDocumentCache } from './document-cache.ts';

const documentOf = (length: number) => parse(`{a}${' '.repeat(length - 3)}`);

it('keeps the documents that were asked for last, up to a length of all together', async () => {
  const cache = createDocumentCache(100, 50);
  for (const key of ['a', 'b', 'c']) await cache.set(key, documentOf(30));
  await cache.get('a');
  await cache.set('d', documentOf(30));
  const kept = await Promise.all(['a', 'b', 'c', 'd'].map((key) => cache.get(key)));
  expect(kept.map((document) => document !== undefined)).toEqual([true, false, true, true]);
});

it('does not keep a document that is longer than each may be', async () => {
  const cache = createDocumentCache(100, 50);
  await cache.set('short', documentOf(30));
  await cache.set('long', documentOf(51));
  expect(await cache.get('long')).toBeUndefined();
  expect(await cache.get('short')).toBeDefined();
});

it('forgets what is deleted, and counts it no longer', async () => {
  const cache = createDocumentCache(60, 50);
  await cache.set('a', documentOf(40));
  await cache.delete('a');
  await cache.set('b', documentOf(30));
  await cache.set('c', documentOf(30));
  expect(await cache.get('a')).toBeUndefined();
  expect(await cache.get('b')).toBeDefined();
});
