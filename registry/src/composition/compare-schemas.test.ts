/** What a check lists of the changes between two schemas, and what it counts. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema } from 'graphql';
import { DEFAULT_POLICY } from '@trestle/graph-checks/policy';
import { compareSchemas } from './compare-schemas.ts';

const COUNT = 1200;
const names = Array.from({ length: COUNT }, (_, at) => `A${String(at).padStart(4, '0')}`);
const kept = 'type Query { kept: Int';
const before = `${kept} zed: Int } ${names.map((name) => `type ${name} { id: ID }`).join(' ')}`;
const usage = {
  days: 30,
  operations: [
    { hash: 'h', name: null, text: '{ zed }', clients: [{ name: 'web', version: '1', count: 1000, lastSeen: '2026-01-30T10:00:00Z' }] },
  ],
};

describe('compareSchemas', () => {
  const propose = (sdl: string) => ({ api: buildSchema(sdl), supergraphSdl: sdl });
  const after = propose(`${kept} }`);

  it('lists a used field among 1,000 of more breaking changes, and leaves out those that nothing uses', async () => {
    const { changes, unlisted } = await compareSchemas({ apiSdl: before, usage, policy: DEFAULT_POLICY }, after);
    expect(changes).toHaveLength(1000);
    const failed = changes.filter(({ decision }) => decision?.verdict === 'FAIL');
    expect(failed).toMatchObject([{ coordinate: 'Query.zed', level: 'BREAKING', decision: { affectedCount: 1 } }]);
    expect(unlisted).toEqual([]);
  });

  it('counts the changes beyond 1,000 that no usage excuses', async () => {
    const { changes, unlisted } = await compareSchemas({ apiSdl: before }, after);
    expect(changes).toHaveLength(1000);
    expect(unlisted).toHaveLength(COUNT + 1 - 1000);
    expect(new Set(unlisted.map(({ verdict }) => verdict))).toEqual(new Set(['FAIL']));
    const listed = new Set(changes.map(({ id }) => id));
    expect(unlisted.filter(({ id }) => listed.has(id))).toEqual([]);
  });

  it('lists breaking changes first, also among more changes than it lists', async () => {
    const types = names.map((name) => `type B${name} { id: ID }`).join(' ');
    const { changes } = await compareSchemas({ apiSdl: `${kept} zed: Int }` }, propose(`${kept} } ${types}`));
    expect(changes[0]).toMatchObject({ coordinate: 'Query.zed', level: 'BREAKING' });
    expect(changes).toHaveLength(1000);
  });
});
