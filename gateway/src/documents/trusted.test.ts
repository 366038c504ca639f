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

  it.each([
    [{ name: 'web', version: 1.2 }, 'the version of a client must be a string'],
    [{ name: 42 }, 'the name of a client must be a string'],
  ])('refuses %j, whose documents would be those of all', (client, message) => {
    expect(() => read(client)).toThrow(message);
  });
});
