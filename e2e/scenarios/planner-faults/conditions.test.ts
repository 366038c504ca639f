/** Operations with `@skip` and `@include` of which Apollo's planner leaves out too much or too little. Each runs on the real gateway. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Federation, startFederation } from '../../stack/federation/federation.ts';

let federation: Federation;

describe('@skip and @include', () => {
  const users = [
    { id: '1', role: 'admin' },
    { id: '2', role: null },
  ];
  // GraphQL §3.13.1: "@skip" leaves out its field, and nothing else.
  const profiles = {
    a: {
      sdl: 'type Query { me: User users: [User!]! } type User @key(fields: "id") { id: ID! role: String team: Team } type Team { name: String size: Int }',
      resolvers: {
        Query: { me: () => users[0], users: () => users },
        User: {
          __resolveReference: ({ id }: { id: string }) => users.find((user) => user.id === id),
          team: ({ id }: { id: string }) => ({ name: `team ${id}`, size: 3 }),
        },
      },
    },
    b: {
      sdl: `type Team @shareable { name: String @external size: Int @external }
        type User @key(fields: "id") { id: ID! role: String @external team: Team @external
          karma: String @requires(fields: "role") label: String @requires(fields: "team { name }") span: String @requires(fields: "team { size }")
          zone: String rank: String }`,
      resolvers: {
        User: {
          __resolveReference: (key: object) => key,
          karma: ({ role }: { role: string | null }) => `karma of ${String(role)}`,
          label: ({ team }: { team: { name: string } }) => `label of ${team.name}`,
          span: ({ team }: { team: { size: number } }) => `span of ${String(team.size)}`,
          zone: ({ id }: { id: string }) => `zone ${id}`,
          rank: ({ id }: { id: string }) => `rank ${id}`,
        },
      },
    },
    c: {
      sdl: `type User @key(fields: "id") { id: ID! rank: String @external score: String @requires(fields: "rank") fame: Int }`,
      resolvers: {
        User: { __resolveReference: (key: object) => key, score: ({ rank }: { rank: string }) => `score of ${rank}`, fame: () => 7 },
      },
    },
  };
  const all = { karma: 'karma of admin', label: 'label of team 1', span: 'span of 3', zone: 'zone 1', score: 'score of rank 1', fame: 7 };
  const only = (...names: (keyof typeof all)[]) => ({ data: { me: Object.fromEntries(names.map((name) => [name, all[name]])) } });

  beforeAll(async () => {
    federation = await startFederation(profiles);
  });
  afterAll(() => federation.stop());
  beforeEach(() => {
    federation.received.length = 0;
  });

  it('leave out a field with @requires, and no other field', async () => {
    const ask = async (query: string, variables?: Record<string, unknown>) => (await federation.ask(query, variables)).body;
    expect(await ask('{ me { karma @skip(if: true) zone } }')).toEqual(only('zone'));
    expect(await ask('{ me { karma @include(if: false) } }')).toEqual({ data: { me: {} } });
    const query = (text: string) => `query($a: Boolean!, $b: Boolean = true) { ${text} }`;
    const each = query('me { karma @include(if: $a) zone label @skip(if: $b) fame score @include(if: $a) }');
    expect(await ask(each, { a: false })).toEqual(only('zone', 'fame'));
    expect(await ask(each, { a: true })).toEqual(only('karma', 'zone', 'fame', 'score'));
    expect(await ask(each, { a: true, b: false })).toEqual(only('karma', 'zone', 'label', 'fame', 'score'));
    // Two fields that require parts of one object, of which one part is not fetched.
    const parts = query('me { label @include(if: $a) span @skip(if: $b) zone }');
    expect(await ask(parts, { a: true })).toEqual(only('label', 'zone'));
    expect(await ask(parts, { a: false, b: false })).toEqual(only('span', 'zone'));
    expect(await ask(parts, { a: false })).toEqual(only('zone'));
  });

  it('leave out only what they are on: a fragment, a nested fragment, a field with two conditions, or a parent', async () => {
    const query = (text: string) =>
      `query($a: Boolean!, $b: Boolean = false) { ${text} } fragment F on User { karma ...G @skip(if: $b) } fragment G on User { score }`;
    const cases: [string, Record<string, boolean>, object][] = [
      ['me { zone ...F @include(if: $a) }', { a: false }, only('zone')],
      ['me { zone ...F @include(if: $a) }', { a: true }, only('zone', 'karma', 'score')],
      ['me { zone ...F @include(if: $a) }', { a: true, b: true }, only('zone', 'karma')],
      [
        'me { label ... @include(if: $a) { ... on User @skip(if: $b) { karma } } ...F @skip(if: $a) }',
        { a: false, b: true },
        only('label', 'karma'),
      ],
      ['me { label ... @include(if: $a) @skip(if: $b) { karma } ...F @include(if: $b) }', { a: false }, only('label')],
      ['me { ... @include(if: $a) { ... @include(if: $b) { karma } } zone ...F @include(if: $b) }', { a: false }, only('zone')],
      ['me @include(if: $a) { karma zone } ...H', { a: false }, { data: { me: { fame: 7 } } }],
      ['me @include(if: $a) @skip(if: $b) { score } ...H', { a: true }, { data: { me: { score: 'score of rank 1', fame: 7 } } }],
    ];
    for (const [text, variables, expected] of cases) {
      const fragment = text.includes('...H') ? ' fragment H on Query { me { fame } ... @skip(if: true) { users { ...F } } }' : '';
      const used = fragment === '' && !text.includes('...F') ? 'users @skip(if: true) { ...F }' : '';
      expect([text, variables, (await federation.ask(query(`${text} ${used}`) + fragment, variables)).body]).toEqual([
        text,
        variables,
        expected,
      ]);
    }
  });

  it('send no request for what they leave out', async () => {
    await federation.ask('query($a: Boolean!) { users { zone karma @include(if: $a) score @include(if: $a) } }', { a: false });
    expect(federation.received.map(({ subgraph }) => subgraph)).toEqual(['a', 'b']);
  });
});
