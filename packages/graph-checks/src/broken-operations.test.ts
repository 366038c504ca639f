/** Changes that make recorded operations invalid by what else these select or give: each is decided as breaking. */
import { describe, expect, it } from '@jest/globals';
import { buildSchema, parse, validate } from 'graphql';
import { listChanges } from './changes.ts';
import { decideChanges } from './usage.ts';

const CLIENTS = [{ name: 'web', version: '1.4', count: 1000, lastSeen: '2026-01-30T10:00:00Z' }];
const BASE = `
  directive @mask(with: String! = "x") repeatable on FIELD
  type Query { hit: [Hit] node: Node named: Named find(by: By): User mask(with: Int! = 1): Int }
  union Hit = User | Post
  interface Node { id: ID } interface Named { name: String }
  type User implements Node { id: ID title: String owner: User }
  type Post implements Node & Named { id: ID name: String title: String owner: User }
  input By { id: ID name: String }`;

/** Decides the one change between the base and the base with a replacement. */
async function decide([old, changed]: readonly [string, string], texts: readonly string[]) {
  if (!BASE.includes(old)) throw new Error(`The base has no ${old}`);
  const [from, to] = [buildSchema(BASE), buildSchema(BASE.replace(old, changed))];
  const operations = texts.map((text) => ({ hash: text, name: null, text, clients: CLIENTS }));
  const decided = decideChanges({ schema: from, next: to, changes: await listChanges(from, to), usage: { days: 30, operations } });
  const invalid = texts.filter((text) => validate(from, parse(text)).length === 0 && validate(to, parse(text)).length > 0);
  return { decided, invalid };
}

describe('decideChanges', () => {
  it.each<[string, [string, string], string[], string[]]>([
    [
      'a field that becomes non-null beside one that does not',
      ['title: String owner: User }\n  type Post', 'title: String! owner: User }\n  type Post'],
      ['{ hit { ... on User { title } ... on Post { title } } }', '{ hit { ...U ... on Post { title } } } fragment U on User { title }'],
      ['{ hit { ... on User { title } ... on Post { id } } }', '{ find { title } hit { ... on Post { title } } }'],
    ],
    [
      'a field that becomes non-null below fields that merge',
      ['name: String title: String owner: User }', 'name: String title: String owner: User! }'],
      ['{ hit { ... on User { owner { id } } ... on Post { owner { id } } } }'],
      ['{ hit { ... on Post { owner { id } } } }'],
    ],
    [
      'an input that becomes a @oneOf',
      ['input By {', 'input By @oneOf {'],
      [
        '{ find(by: { id: 1, name: "" }) { id } }',
        '{ find(by: {}) { id } }',
        '{ find(by: { id: null }) { id } }',
        'query($i: ID) { find(by: { id: $i }) { id } }',
      ],
      ['{ find(by: { id: 1 }) { id } }', 'query($i: ID!) { find(by: { id: $i }) { id } }', '{ find { id } }'],
    ],
    [
      'a directive that is no longer repeatable',
      ['repeatable on FIELD', 'on FIELD'],
      ['{ node { id @mask @mask(with: "y") } }'],
      ['{ node @mask { id @mask } }'],
    ],
    [
      'a lost default that a variable with the default null relied on',
      ['mask(with: Int! = 1)', 'mask(with: Int!)'],
      ['query($n: Int = null) { mask(with: $n) }', '{ mask }'],
      ['query($n: Int = 2) { mask(with: $n) }'],
    ],
  ])('fails for %s, by the operations that become invalid', async (_, change, affected, others) => {
    const { decided, invalid } = await decide(change, [...affected, ...others]);
    expect(invalid).toEqual(affected);
    const failed = decided.filter(({ verdict }) => verdict === 'fail');
    expect(new Set(failed.flatMap((each) => each.affected.map(({ hash }) => hash)))).toEqual(new Set(affected));
    expect(failed.map(({ level }) => level)).toEqual(failed.map(() => 'breaking'));
    expect(decided.slice(0, failed.length)).toEqual(failed);
  });

  it('finds that an object type was removed which two interfaces had in common, though no operation names it', async () => {
    const more = 'type Robot implements Node & Named { id: ID name: String }';
    const [from, to] = [buildSchema(BASE.replace('Post implements Node & Named', 'Post implements Node') + more), buildSchema(BASE)];
    const without = buildSchema(BASE.replace('Post implements Node & Named', 'Post implements Node'));
    const texts = ['{ node { ... on Named { name } } }', '{ named { ...N } } fragment N on Node { id }', '{ node { id } named { name } }'];
    const usage = { days: 30, operations: texts.map((text) => ({ hash: text, name: null, text, clients: CLIENTS })) };
    const lost = decideChanges({ schema: from, next: without, changes: await listChanges(from, without), usage });
    expect(lost.find(({ type }) => type === 'TYPE_REMOVED')).toMatchObject({ verdict: 'fail', affectedCount: 2 });
    const kept = decideChanges({ schema: from, next: to, changes: await listChanges(from, to), usage });
    expect(kept.find(({ type }) => type === 'TYPE_REMOVED')).toMatchObject({ verdict: 'pass', affectedCount: 0 });
  });

  it('fails for a variable of an input that becomes a @oneOf: which fields requests give is not recorded', async () => {
    const { decided } = await decide(['input By {', 'input By @oneOf {'], ['query($b: By) { find(by: $b) { id } }']);
    expect(decided).toMatchObject([{ coordinate: 'By.@oneOf', level: 'breaking', verdict: 'fail', isInput: true }]);
  });

  it('passes a field that becomes non-null while nothing conflicts, also when too little is recorded', async () => {
    const { decided } = await decide(['title: String owner: User }\n  type Post', 'title: String! owner: User }\n  type Post'], []);
    expect(decided).toMatchObject([{ level: 'safe', verdict: 'pass' }]);
  });
});
