/** Persisted queries of Apollo's protocol, and trusted documents. */
import { createHash } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { createDocuments } from './documents.ts';
import { readTrustedDocuments } from './trusted.ts';

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

it('refuses texts of trusted documents where their ids are needed', () => {
  const trusted = readTrustedDocuments(JSON.stringify({ a: '{ a }', [sha256('{ b }')]: '{ b }' }));
  const documents = createDocuments({ readTrusted: () => trusted, isTrustedOnly: true, needsId: true });
  const send = (parameters: object) =>
    documents.resolve({ extensions: {}, ...parameters } as never, { name: undefined, version: undefined });
  const byHash = { extensions: { persistedQuery: { version: 1, sha256Hash: sha256('{ b }') } } };
  expect([send({ documentId: 'a' }), send(byHash)]).toEqual(['{ a }', '{ b }']);
  expect(() => send({ query: '{ a }' })).toThrow('Send the id of a trusted document in place of its text.');
  expect(() => send({ query: '{ b }', ...byHash })).toThrow('Send the id of a trusted document in place of its text.');
  expect(() => send({ query: '{ c }' })).toThrow('Only trusted documents are executed.');
});

it('keeps no text where automatic persisted queries are off, but finds trusted documents by their hashes', () => {
  const trusted = readTrustedDocuments(JSON.stringify({ [sha256('{ b }')]: '{ b }' }));
  const documents = createDocuments({ readTrusted: () => trusted, isTrustedOnly: false, keepsTexts: false });
  const send = (query: string | undefined, hash: string) =>
    documents.resolve({ query, extensions: { persistedQuery: { version: 1, sha256Hash: hash } } } as never, {
      name: undefined,
      version: undefined,
    });
  expect([send('{ a }', sha256('{ a }')), send(undefined, sha256('{ b }'))]).toEqual(['{ a }', '{ b }']);
  expect(() => send(undefined, sha256('{ a }'))).toThrow('PersistedQueryNotSupported');
});
