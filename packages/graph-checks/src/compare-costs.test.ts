/** What a change of a schema does to the costs of operations. */
import { describe, expect, it } from '@jest/globals';
import { checkGraph } from './check.ts';
import { type CompareCostsInput, compareCosts } from './compare-costs.ts';
import { toCostSchemas } from './estimate-cost.ts';
import { DEFAULT_POLICY, type UsagePolicy } from './policy.ts';

const SDL = `
  directive @cost(weight: String!) on FIELD_DEFINITION
  directive @listSize(assumedSize: Int) on FIELD_DEFINITION
  type Query { users: [User] slow: Int me(first: Int): User }
  type User { id: ID friends: [User] }`;
const NEXT = SDL.replace('users: [User]', 'users: [User] @listSize(assumedSize: 1000)').replace(
  'slow: Int',
  'slow: Int @cost(weight: "50")',
);
const client = (name: string | null, count: number) => ({ name, version: '1', count, lastSeen: '2026-01-30T10:00:00Z' });
const recorded = (text: string, ...clients: ReturnType<typeof client>[]) => ({
  ...{ hash: text, name: /query (\w+)/u.exec(text)?.[1] ?? null, text },
  clients: clients.length > 0 ? clients : [client('web', 10)],
});
const compare = (input: Partial<CompareCostsInput>, policy: Partial<UsagePolicy> = {}) =>
  compareCosts({ before: toCostSchemas(SDL, SDL), after: toCostSchemas(NEXT, NEXT), policy: { ...DEFAULT_POLICY, ...policy }, ...input });
const USAGE = {
  days: 30,
  operations: [
    recorded('query Slow { slow }', client('web', 30)),
    recorded('query Users { users { id } }'),
    recorded('query Me { me { id } }'),
  ],
};

describe('compareCosts', () => {
  it('lists the operations that cost more, those that grow most first, with their share of the requests', () => {
    expect(compare({ usage: USAGE })).toEqual({
      compared: 3,
      grown: [
        { hash: 'query Users { users { id } }', name: 'Users', before: 10, after: 1000, count: 10, percent: 20, isOverLimit: false },
        { hash: 'query Slow { slow }', name: 'Slow', before: 0, after: 50, count: 30, percent: 60, isOverLimit: false },
      ],
    });
    const back = compare({ before: toCostSchemas(NEXT, NEXT), after: toCostSchemas(SDL, SDL), usage: USAGE });
    expect(back).toEqual({ compared: 3, grown: [] });
  });

  it('takes the assumed size of lists from the policy', () => {
    const sizes = (assumedListSize: number) =>
      compare({ usage: USAGE }, { assumedListSize }).grown.map(({ before, after }) => [before, after]);
    expect(sizes(3)).toEqual([[3, 1000], [0, 50]]); // prettier-ignore
    expect(sizes(0)).toEqual([[0, 1000], [0, 50]]); // prettier-ignore
    expect(sizes(1000)).toEqual([[0, 50]]);
  });

  it('puts those first that exceed the limit and did not before', () => {
    const usage = { days: 30, operations: [...USAGE.operations, recorded('query Deep { users { friends { friends { id } } } }')] };
    const limits = (maxCost: number) => compare({ usage }, { maxCost }).grown.map(({ name, isOverLimit }) => [name, isOverLimit]);
    expect(limits(0)).toEqual([['Deep', false], ['Users', false], ['Slow', false]]); // prettier-ignore
    expect(limits(1000)).toEqual([['Deep', false], ['Users', false], ['Slow', false]]); // prettier-ignore
    // The deep one was above it before.
    expect(limits(999)).toEqual([['Users', true], ['Deep', false], ['Slow', false]]); // prettier-ignore
  });

  it('compares registered operations too, each text once', () => {
    const text = 'query Users { users { id } }';
    const registered = [
      { hash: text, name: 'Users', text },
      { hash: text, name: 'Users', text },
      { hash: 'h', name: 'Me', text: 'query Me { me(first: 0) { id } slow }' },
      { hash: 'b', name: 'Broken', text: 'query Broken { nothing }' },
      { hash: 'c', name: 'C', text: '{' },
    ];
    expect(compare({ registered, usage: USAGE })).toMatchObject({
      compared: 4,
      grown: [{ name: 'Users', count: 10, percent: 20 }, { hash: 'h', before: 1, after: 51, count: null, percent: null }, { name: 'Slow' }],
    });
  });

  it('leaves out what the policy does not count', () => {
    const names = (policy: Partial<UsagePolicy>) => compare({ usage: USAGE }, policy).grown.map(({ name }) => name);
    expect(names({ excludedOperations: ['Users'] })).toEqual(['Slow']);
    expect(names({ minimumCount: 11 })).toEqual(['Slow']);
    expect(names({ minimumPercent: 50 })).toEqual(['Slow']);
    expect(names({ excludedClients: ['web'] })).toEqual([]);
  });

  it('compares no more than the bound allows, and says how many', () => {
    expect(compare({ usage: USAGE, maxFields: 3 })).toMatchObject({ compared: 1 });
  });
});

describe('checkGraph', () => {
  it('fails when a recorded operation exceeds the limit after the change and did not before', async () => {
    const link = 'extend schema @link(url: "https://specs.apollo.dev/federation/v2.9", import: ["@listSize"])';
    const check = async (directive: string, more: object = {}) => {
      const sdl = `${link}\n"Root."\ntype Query { "One." a: [A] ${directive} }\n"A."\ntype A { "B." b: Int }`;
      return checkGraph({ subgraphs: [{ name: 'one', url: 'http://one', sdl }], changed: ['one'], secondOpinion: false, ...more });
    };
    const { apiSdl: currentApiSdl, supergraphSdl: currentSupergraphSdl, costs } = await check('');
    expect(costs).toBeNull();
    const current = { currentApiSdl, currentSupergraphSdl, usage: { days: 1, operations: [recorded('{ a { b } }')] } };
    const policy = { ...DEFAULT_POLICY, maxCost: 100 };
    const sized = '@listSize(assumedSize: 1000)';
    expect(await check(sized, current)).toMatchObject({ verdict: 'pass', costs: { grown: [{ before: 10, after: 1000 }] } });
    expect(await check(sized, { ...current, policy })).toMatchObject({ verdict: 'fail', costs: { grown: [{ isOverLimit: true }] } });
    expect(await check('@listSize(assumedSize: 99)', { ...current, policy })).toMatchObject({ verdict: 'pass' });
  });
});
