/** What is reported of texts that cannot be read. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { composeGraph } from './compose.ts';
import { validateDocuments } from './documents.ts';
import { lintSdl } from './lint.ts';

describe('a schema or document that is nested too deeply to be parsed', () => {
  const LEVELS = 50_000;
  const sdl = `type Query { a: ${'['.repeat(LEVELS)}Int${']'.repeat(LEVELS)} }`;
  const fault = { code: 'GRAPHQL_PARSE_FAILED', severity: 'error', message: expect.stringContaining('stack'), line: null };

  it('is a fault of the schema for lint and composition', () => {
    expect(lintSdl('deep', sdl)).toEqual([expect.objectContaining(fault)]);
    const sources = [{ name: 'deep', url: 'http://deep.example', sdl }];
    expect(composeGraph(sources)).toMatchObject({ ok: false, errors: [fault] });
  });

  it('is a fault of a document', () => {
    const text = `{ a${'{a'.repeat(LEVELS / 2)}`;
    expect(validateDocuments(buildSchema('type Query { a: Int }'), [{ id: 'deep', text }])).toEqual([expect.objectContaining(fault)]);
  });
});
