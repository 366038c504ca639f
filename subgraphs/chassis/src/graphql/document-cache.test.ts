import { describe, expect, it } from '@jest/globals';
import { parse } from 'graphql';
import { createDocumentCache } from './document-cache.ts';

const documentOf = (length: number) => parse(`{a}${' '.repeat(length - 3)}`);

describe('a document cache', () => {
  it('removes the least recently used document when all together are too long', async () => {
    const cache = createDocumentCache(() => true, { maxCharacters: 100, maxDocumentCharacters: 50 });
    for (const key of ['a', 'b', 'c']) await cache.set(key, documentOf(30));
    await cache.get('a');
    await cache.set('d', documentOf(30));
    const stored = await Promise.all(['a', 'b', 'c', 'd'].map((key) => cache.get(key)));
    expect(stored.map((document) => document !== undefined)).toEqual([true, false, true, true]);
  });

  it('does not store a document that is too long', async () => {
    const cache = createDocumentCache(() => true, { maxCharacters: 100, maxDocumentCharacters: 50 });
    await cache.set('short', documentOf(30));
    await cache.set('long', documentOf(51));
    expect(await cache.get('long')).toBeUndefined();
    expect(await cache.get('short')).toBeDefined();
  });

  it('does not store a document that is not valid', async () => {
    const cache = createDocumentCache(({ loc }) => loc?.end === 30);
    await cache.set('valid', documentOf(30));
    await cache.set('invalid', documentOf(31));
    expect(await cache.get('valid')).toBeDefined();
    expect(await cache.get('invalid')).toBeUndefined();
  });

  it('removes a deleted document and no longer counts it', async () => {
    const cache = createDocumentCache(() => true, { maxCharacters: 60, maxDocumentCharacters: 50 });
    await cache.set('a', documentOf(40));
    await cache.delete('a');
    await cache.set('b', documentOf(30));
    await cache.set('c', documentOf(30));
    expect(await cache.get('a')).toBeUndefined();
    expect(await cache.get('b')).toBeDefined();
  });
});
