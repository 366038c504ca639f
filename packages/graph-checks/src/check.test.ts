/** A whole check of a graph, of all its parts. */
import { describe, expect, test } from '@jest/globals';
import { checkGraph } from './check.ts';

const CLIENT = { name: 'web', version: '1.4', count: 1000, lastSeen: '2026-01-30T10:00:00Z' };

describe('checkGraph', () => {
  const sdl = (fields: string) => `"Root."\ntype Query { "One." a: Int ${fields} }`;
  const input = (fields: string) => ({ subgraphs: [{ name: 'one', url: 'http://one', sdl: sdl(fields) }], changed: ['one'] });

  test('reports composition, changes, lint, documents and contracts with the worst verdict of all', async () => {
    const first = await checkGraph(input('"Two." b: Int'));
    expect(first).toMatchObject({ verdict: 'pass', composition: { ok: true }, changes: [], lint: [] });
    const currentApiSdl = first.apiSdl ?? '';
    expect(await checkGraph({ ...input(''), currentApiSdl })).toMatchObject({
      verdict: 'fail',
      changes: [{ coordinate: 'Query.b', verdict: 'fail' }],
    });
    const usage = { days: 30, operations: [{ hash: 'a', name: null, text: '{ a }', clients: [CLIENT] }] };
    expect(await checkGraph({ ...input(''), currentApiSdl, usage })).toMatchObject({ verdict: 'pass', changes: [{ verdict: 'pass' }] });
    expect(await checkGraph({ ...input(''), currentApiSdl, usage: { days: 1, operations: [] } })).toMatchObject({
      verdict: 'not_enough_data',
    });
    expect(await checkGraph(input('c: Int'))).toMatchObject({
      verdict: 'warn',
      lint: [{ code: 'require-description', subgraph: 'one', line: 2 }],
    });
    const documents = [{ id: 'x.graphql', text: '{ z }' }];
    expect(await checkGraph({ ...input(''), documents })).toMatchObject({ verdict: 'fail', documents: [{ subgraph: 'x.graphql' }] });
    const contracts = [{ name: 'public', include: ['public'], exclude: [] }];
    expect(await checkGraph({ ...input(''), contracts })).toMatchObject({ verdict: 'fail', contracts: [{ name: 'public' }] });
    expect(await checkGraph(input('x: Zed'))).toMatchObject({ verdict: 'fail', composition: { ok: false }, supergraphSdl: null });
  });
});
