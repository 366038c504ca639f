/** Persisted queries of Apollo's protocol. */
import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createDocuments } from './documents.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('refuses a query whose hash is that of another query, also when that query is known', () => {
  const documents = createDocuments({ readTrusted: () => undefined, isTrustedOnly: false });
  const send = (query: string | undefined, hash: string) =>
    documents.resolve({ query, extensions: { persistedQuery: { version: 1, sha256Hash: hash } } } as never, {
      name: undefined,
      version: undefined,
    });
  const hash = sha256('{ a }');
  expect(() => send('{ b }', hash)).toThrow('does not match `query`');
  expect(send('{ a }', hash)).toBe('{ a }');
  expect(() => send('{ b }', hash)).toThrow('does not match `query`');
  expect([send('{ a }', hash), send(undefined, hash)]).toEqual(['{ a }', '{ a }']);
});
