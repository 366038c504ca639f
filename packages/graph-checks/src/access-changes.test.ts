/** What a check says about fields that fewer callers may read. */
import { describe, expect, it } from '@jest/globals';
import { checkGraph } from './check.ts';
import { composeGraph } from './compose.ts';

const IMPORTS = ['@authenticated', '@requiresScopes', { name: '@policy', as: '@may' }];
const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6",
  import: [${IMPORTS.map((each) => (typeof each === 'string' ? `"${each}"` : `{ name: "${each.name}", as: "${each.as}" }`)).join(', ')}])\n`;
const BASE = 'type Query { me: User ships: [Ship] } type User { name: String mail: String } type Ship @authenticated { name: String }';

const toSubgraphs = (sdl: string) => [{ name: 'ports', url: 'http://ports', sdl: LINK + sdl }];

/** Returns `coordinate verdict` of the changes that a check lists. */
async function check(before: string, after: string, used: string): Promise<string[]> {
  const current = composeGraph(toSubgraphs(before), { secondOpinion: false });
  if (!current.ok) throw new Error(JSON.stringify(current.errors));
  const clients = [{ name: 'web', version: '1', count: 1000, lastSeen: '2026-01-30T10:00:00Z' }];
  const report = await checkGraph({
    subgraphs: toSubgraphs(after),
    changed: ['ports'],
    currentApiSdl: current.apiSdl,
    currentSupergraphSdl: current.supergraphSdl,
    usage: { days: 30, operations: [{ hash: 'h', name: null, text: used, clients }] },
    secondOpinion: false,
  });
  expect(report.composition.errors).toEqual([]);
  return report.changes.map(({ type, level, coordinate, verdict }) => `${type} ${level} ${coordinate} ${verdict}`);
}

const withMail = (directive: string) => BASE.replace('mail: String', `mail: String ${directive}`);

describe('a directive for access that is added', () => {
  it.each(['@authenticated', '@requiresScopes(scopes: [["mail"]])', '@may(policies: [["own"]])'])(
    'to a field, such as %s, is a dangerous change: a warning where clients use the field',
    async (directive) => {
      expect(await check(BASE, withMail(directive), '{ me { mail } }')).toEqual(['ACCESS_RESTRICTED dangerous User.mail warn']);
      expect(await check(BASE, withMail(directive), '{ me { name } }')).toEqual(['ACCESS_RESTRICTED dangerous User.mail pass']);
      expect(await check(withMail(directive), BASE, '{ me { mail } }')).toEqual([]);
    },
  );

  it('to a type is one for operations that select on it', async () => {
    const after = BASE.replace('type User', 'type User @authenticated');
    expect(await check(BASE, after, '{ me { mail } }')).toEqual(['ACCESS_RESTRICTED dangerous User warn']);
  });

  it('is none for a new field, nor where the type demanded the same before', async () => {
    expect(await check(BASE, BASE.replace('me: User', 'me: User ours: User @authenticated'), '{ me { mail } }')).toEqual([
      'FIELD_ADDED safe Query.ours pass',
    ]);
    const moved = BASE.replace('type Ship @authenticated { name: String', 'type Ship { name: String @authenticated');
    expect(await check(BASE, moved, '{ ships { name } }')).toEqual([]);
  });
});

describe('scopes that change', () => {
  const scopes = (lists: string) => withMail(`@requiresScopes(scopes: ${lists})`);

  it.each([
    ['[["a"]]', '[["a", "b"]]', true],
    ['[["a"], ["b"]]', '[["a"]]', true],
    ['[["a"]]', '[["c"]]', true],
    ['[["a", "b"]]', '[["a"]]', false],
    ['[["a"]]', '[["a"], ["b"]]', false],
    ['[["a", "b"]]', '[["b", "a"]]', false],
  ])('from %s to %s: listed when a caller may be refused that was not: %s', async (before, after, isListed) => {
    expect(await check(scopes(before), scopes(after), '{ me { mail } }')).toEqual(
      isListed ? ['ACCESS_RESTRICTED dangerous User.mail warn'] : [],
    );
  });
});
