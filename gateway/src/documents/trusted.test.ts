/** The manifest of trusted documents. */
import { describe, expect, it } from '@jest/globals';
import { readTrustedDocuments } from './trusted.ts';

const read = (client: object) => readTrustedDocuments(JSON.stringify({ clients: [{ documents: { a: '{a}' }, ...client }] }));

describe('readTrustedDocuments', () => {
  it('gives each client its documents, and those of every client', () => {
    const documents = read({ name: 'web', version: '1' });
    expect(documents.find('a', { name: 'web', version: '1' })).toBe('{a}');
    expect(documents.find('a', { name: 'web', version: '2' })).toBeUndefined();
    expect(read({ version: null }).find('a', { name: 'app', version: undefined })).toBe('{a}');
  });

  it('says whether the name or the version of a client decides, which caches must know', () => {
    expect(readTrustedDocuments('{"a":"{a}"}').isBy).toEqual({ name: false, version: false });
    expect(read({ name: 'web' }).isBy).toEqual({ name: true, version: false });
    expect(read({ name: 'web', version: '1' }).isBy).toEqual({ name: true, version: true });
  });

  it.each([
    [{ name: 'web', version: 1.2 }, 'the version of a client must be a string'],
    [{ name: 42 }, 'the name of a client must be a string'],
  ])('refuses %j, whose documents would be those of all', (client, message) => {
    expect(() => read(client)).toThrow(message);
  });

  describe('from a manifest of Apollo', () => {
    const manifest = (operations: unknown, version = 1) =>
      readTrustedDocuments(JSON.stringify({ format: 'apollo-persisted-query-manifest', version, operations }));
    const operation = (id: string, clientName?: unknown) => ({ id, body: `{${id}}`, name: id, type: 'query', clientName });

    it('gives each client the operations that name it, and those without a name', () => {
      const documents = manifest([operation('a'), operation('b', 'web'), operation('c', null)]);
      const web = { name: 'web', version: '3' };
      expect(['a', 'b', 'c'].map((id) => documents.find(id, web))).toEqual(['{a}', '{b}', '{c}']);
      expect([...documents.list({ name: 'app', version: undefined }).keys()]).toEqual(['a', 'c']);
    });

    it.each([
      [[operation('a')], 2, 'version of apollo-persisted-query-manifest must be 1'],
      [{}, 1, 'operations must be a list'],
      [[{ id: 'a' }], 1, 'each operation must have `id` and `body`'],
      [[null], 1, 'each operation must have'],
      [[operation('a', 1)], 1, 'clientName of an operation must be a string'],
      [[operation('a'), { ...operation('a'), body: '{b}' }], 1, 'the id a has two documents'],
    ])('refuses the operations %j of version %i', (operations, version, message) => {
      expect(() => manifest(operations, version)).toThrow(message);
    });
  });
});
